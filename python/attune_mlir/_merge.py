# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One result of attention, of those over parts of the keys."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from . import _compiler, _devices, _frameworks, _known, _native, _operands, _schedules

_DTYPES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32"}


@dataclasses.dataclass(frozen=True)
class Problem:
    """What a kernel is compiled for."""

    dtype: str
    out_dtype: str
    layout: str
    heads: int
    head_dim: int
    #: Whether each sequence has one query; then heads are what a tile has rows of.
    has_one_query: bool
    return_lse: bool
    #: Of each part and of its LSE, whether it is other than row-major without gaps.
    strided: tuple[tuple[bool, bool], ...]

    def _describe(self, dims: str, dtype: str, strides: str = "") -> str:
        sizes = {"b": "?", "s": "1" if self.has_one_query else "?", "h": self.heads, "d": self.head_dim}
        layout = f", #attn.strided<{strides}>" if strides else ""
        return f"tensor<{'x'.join(str(sizes[dim]) for dim in dims)}x{_DTYPES[dtype]}{layout}>"

    def make_module(self) -> _compiler.Module:
        """The problem in the attn dialect."""
        of_rows = f"[?, ?, ?, 1], divisor = {_operands.get_row_step(self.head_dim, self.dtype)}"
        parts = [self._describe(self.layout, self.dtype, of_rows * strided) for strided, _ in self.strided]
        lses = [self._describe("bhs", "float32", "[?, ?, ?]" * strided) for _, strided in self.strided]
        arguments = [f"%part{i}: {part}, %lse{i}: {lse}" for i, (part, lse) in enumerate(zip(parts, lses, strict=True))]
        results = [self._describe(self.layout, self.out_dtype)] + [self._describe("bhs", "float32")] * self.return_lse
        names = ", ".join(["%out", "%lse"][: len(results)])
        outputs, logs = (", ".join(f"%{name}{i}" for i in range(len(parts))) for name in ("part", "lse"))
        return _compiler.parse(
            f"func.func @merge({', '.join(arguments)}) -> ({', '.join(results)}) {{\n"
            f"  {names} = attn.merge {outputs} lses({logs} : {', '.join(lses)}) order({self.layout})\n"
            f"    : {', '.join(parts)} -> {', '.join(results)}\n"
            f"  return {names} : {', '.join(results)}\n}}\n"
        )


def _read_part(array: Any, name: str, first: _native.Tensor | None) -> _native.Tensor:
    """A part, which is as the first one is."""
    tensor = _frameworks.make_tensor(array, name)
    found = tuple(tensor.shape), _frameworks.get_dtype_name(tensor), _frameworks.get_device(tensor, name)
    if found[1] not in _DTYPES:
        raise TypeError(f"expects {name} of float16, bfloat16 or float32, but got {found[1]}")
    if len(found[0]) != 4:
        raise ValueError(f"expects {name} to have 3 or 4 dimensions, but got shape {tuple(getattr(array, 'shape', ()))}")
    if first is not None:
        expected = tuple(first.shape), _frameworks.get_dtype_name(first), _frameworks.get_device(first, "outputs[0]")
        if found[1] != expected[1]:
            raise TypeError(f"expects outputs of one dtype, but got {expected[1]} and, of {name}, {found[1]}")
        if found != expected:
            raise ValueError(
                f"expects {name} of shape {expected[0]} on {expected[2]}, as outputs[0] is, but got shape {found[0]} on {found[2]}"
            )
    _operands.check_address(tensor, name)
    return tensor


def _read_lse(array: Any, name: str, shape: tuple[int, ...], place: tuple[str, int]) -> tuple[_native.Tensor, bool]:
    """The tensor, and whether it is other than row-major without gaps."""
    tensor = _frameworks.make_tensor(array, name)
    if (dtype := _frameworks.get_dtype_name(tensor)) != "float32":
        raise TypeError(f"expects {name} of float32, but got {dtype}")
    found = _frameworks.get_device(tensor, name)
    if tuple(tensor.shape) != shape or found != place:
        raise ValueError(f"expects {name} of shape {shape} on {place}, but got shape {tuple(tensor.shape)} on {found}")
    if min(tensor.strides) < 0:
        raise ValueError(f"expects {name} with strides of at least 0, but got {tensor.strides} elements; copy it")
    return tensor, not _operands.fill_strides(tensor)


def merge(
    outputs: Sequence[Any],
    lses: Sequence[Any],
    *,
    layout: str = "bshd",
    return_lse: bool = False,
    out: Any = None,
    stream: int | None = None,
    chip: str | None = None,
) -> Any:
    """The result of attention over all keys, of its results over parts of them and their LSEs, as `return_lse` gives both.

    outputs     arrays [batch, seq_q, heads, head_dim] of one shape, in float16, bfloat16 or float32, or [total_q, heads, head_dim]
    lses        an array [batch, heads, seq_q] for each, or [heads, total_q]: natural logarithms, float32, in any strides
    layout      order of dimensions: "bshd", or "bhsd" for [batch, heads, seq, head_dim]
    return_lse  returns the LSE over all keys, too
    out         array for the result; of outputs of float32 it may be float16 or bfloat16
    stream      as of `attention`
    chip        as of `attention`

    A part whose LSE is -inf has no keys, and adds nothing whatever its output holds. A query that has no key in any part
    has the result 0 and the LSE -inf. Weights and sums are float32. Sinks belong to one part: each that has them counts them.

    Gradients, which operations of PyTorch or JAX compute, are those of outputs and LSEs. Errors are those of `attention`.
    """
    outputs, lses = list(outputs), list(lses)
    if not outputs or len(outputs) != len(lses):
        raise ValueError(f"expects at least one output and one LSE for each, but got {len(outputs)} and {len(lses)}")
    if layout not in _operands.LAYOUTS:
        raise ValueError(f"expects layout to be one of {', '.join(_operands.LAYOUTS)}, but got {layout!r}")
    is_packed = len(getattr(outputs[0], "shape", ())) == 3
    arrays = [array for pair in zip(outputs, lses, strict=True) for array in pair]
    known = (False, None, None, None, return_lse, layout, chip, *_known.PLAIN)
    if out is None and stream is None and (found := _known.repeat("merge", known, arrays)) is not None:
        return found
    if _frameworks.is_jax(outputs[0]):
        from . import _jax

        names = [f"{kind}[{number}]" for number in range(len(outputs)) for kind in ("outputs", "lses")]
        options = {"layout": layout, "return_lse": bool(return_lse), "chip": chip}
        return _jax.call("merge", dict(zip(names, arrays, strict=True)), options, out=out, stream=stream, is_packed=is_packed)
    if _frameworks.is_torch(outputs[0]):
        from . import _torch

        if _torch.records(*outputs, *lses) or _torch.is_traced(*outputs, *lses):
            if out is not None or stream is not None:
                raise ValueError(_torch.NO_PLACES)
            from . import _serving_torch

            return _serving_torch.merge(outputs, lses, layout=layout, return_lse=bool(return_lse), chip=chip)
    if is_packed and layout != "bshd":
        raise ValueError(f"expects layout bshd of packed sequences, [total_q, heads, head_dim], but got {layout}")
    attempt = _known.Attempt("merge", known, {f"array{number}": array for number, array in enumerate(arrays)}, is_packed=is_packed)
    if is_packed:
        found, lse = _compute(
            [x[None] for x in outputs],
            [x[None] for x in lses],
            layout,
            return_lse,
            None if out is None else out[None],
            stream,
            chip,
            attempt,
        )
        result = found[0] if out is None else out
        return (result, lse[0]) if return_lse else result
    found, lse = _compute(outputs, lses, layout, return_lse, out, stream, chip, attempt)
    return (found, lse) if return_lse else found


def _compute(
    outputs: list[Any],
    lses: list[Any],
    layout: str,
    return_lse: bool,
    out: Any,
    stream: int | None,
    chip: str | None,
    attempt: _known.Attempt,
) -> tuple[Any, Any]:
    """Checks, compiles and launches. Arrays have four and three dimensions."""
    parts: list[_native.Tensor] = []
    for number, array in enumerate(outputs):
        parts.append(_read_part(array, f"outputs[{number}]", parts[0] if parts else None))
    shape, dtype = tuple(parts[0].shape), _frameworks.get_dtype_name(parts[0])
    place = _frameworks.get_device(parts[0], "outputs[0]")
    sizes = dict(zip(layout, shape, strict=True))
    if 0 in (sizes["h"], sizes["d"]):
        raise ValueError(f"expects at least one head and one element in each, but got outputs of shape {shape}")
    of_lse = (sizes["b"], sizes["h"], sizes["s"])
    logs = [_read_lse(array, f"lses[{number}]", of_lse, place) for number, array in enumerate(lses)]
    dense = [_operands.normalize_strides(tensor, f"outputs[{number}]") for number, tensor in enumerate(parts)]
    framework = _frameworks.find_framework(outputs[0])
    is_given = out is not None
    out_dtype = dtype
    if out is None:
        out = framework.empty(outputs[0], shape, dtype)
    elif dtype == "float32" and (wanted := _frameworks.get_dtype_name(_frameworks.make_tensor(out, "out"))) in _DTYPES:
        out_dtype = wanted
    results = [_operands.make_output(out, "out", shape, out_dtype, place)]
    lse = None
    if return_lse:
        lse = framework.empty(outputs[0], of_lse, "float32")
        results.append(_operands.make_output(lse, "lse", of_lse, "float32", place))
    if 0 not in shape:
        problem = Problem(
            dtype=dtype,
            out_dtype=out_dtype,
            layout=layout,
            heads=sizes["h"],
            head_dim=sizes["d"],
            has_one_query=sizes["s"] == 1,
            return_lse=bool(return_lse),
            strided=tuple((not is_dense, lse_strided) for is_dense, (_, lse_strided) in zip(dense, logs, strict=True)),
        )
        device, kernel = _devices.get_kernel(place, chip, problem, _schedules.Bucket.get(sizes["s"], 1, sizes["b"]))
        given = [tensor for part, (log, _) in zip(parts, logs, strict=True) for tensor in (part, log)]
        arguments, queue = _devices.run(device, kernel, given + results, outputs[0], stream)
        if not device.is_host:
            names = [f"array{number}" for number in range(len(given))] + ["out"] + ["lse"] * return_lse
            places = dict(zip(names, _devices.find_places(kernel).values(), strict=True))
            attempt.learn(names[len(given) :], places, arguments, kernel, queue)
    return out if is_given else framework.finish(outputs[0], out), None if lse is None else framework.finish(outputs[0], lse)
