# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention of JAX's arrays, eagerly and within programs that JAX traces: custom calls of XLA, all of one target.

What such a call computes is said by a string, for programs live on in other processes: JSON with the name of what `_CALLS` has, and its
options. Sizes and types are those of XLA's buffers. XLA calls the extension, which repeats what it knows and hands the rest to `run`.

Nothing here is imported before there is an array of JAX.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap
from jax.custom_derivatives import SymbolicZero

from . import _attention, _devices, _frameworks, _gradients, _native, _operands

_TARGET = "attune_mlir"
#: Platforms of XLA, and DLPack's types of their devices.
_PLATFORMS = {"cpu": 1, "CUDA": 2, "ROCM": 10}
for _platform, _device_type in _PLATFORMS.items():
    jax.ffi.register_ffi_target(_TARGET, _native.xla_handler(_device_type), platform=_platform, api_version=1)

#: DLPack's codes, by what NumPy calls a type without its bits.
_CODES = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "complex": 5, "bool": 6}
_FLOAT8_CODES = {"float8_e4m3fn": 10, "float8_e4m3fnuz": 11, "float8_e5m2": 12, "float8_e5m2fnuz": 13}


class Array:
    """A buffer of XLA's within a call, or while JAX traces what stands for one: it has a type and a shape, and address 0."""

    def __init__(self, tensor: _native.Tensor, call: Call | None = None) -> None:
        self._tensor, self.call = tensor, call

    @staticmethod
    def stand_for(traced: Any) -> Array:
        """What has the type and shape of an array that JAX traces."""
        name = str(traced.dtype)
        code = _FLOAT8_CODES.get(name, _CODES.get(name.rstrip("0123456789"), 3))
        return Array(_native.Tensor.from_memory(0, list(traced.shape), code, 8 * traced.dtype.itemsize, _PLATFORMS["cpu"], 0))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._tensor.shape)

    def make_tensor(self) -> _native.Tensor:
        """One of its own, for strides are changed where they are read."""
        of = self._tensor
        return _native.Tensor.from_memory(of.address, of.shape, of.code, of.bits, of.device_type, of.device_number)

    def __getitem__(self, part: slice) -> Array:
        """Some of its bytes."""
        of, (begin, end, _) = self._tensor, part.indices(self.shape[0])
        found = _native.Tensor.from_memory(of.address + begin, [end - begin], of.code, of.bits, of.device_type, of.device_number)
        return Array(found, self.call)


class Call:
    """A call of XLA's, whose results are handed out in their order."""

    def __init__(self, native: _native.XLACall, names: Sequence[str]) -> None:
        self.native = native
        #: By what kernels call them.
        self.operands = {name: Array(tensor, self) for name, tensor in zip(names, native.operands, strict=True)}
        self.results = iter(native.results)

    def learn(self, _: Any, __: Any, results: list[int], arguments: list[_native.Tensor], kernel: _native.Kernel, ___: int) -> bool:
        """Knows the call from now on, if the kernel reads all operands."""
        places = _devices.find_places(kernel)
        read = [places[name] for name in self.operands if name in places]
        return len(read) == len(self.operands) and self.native.learn(read, results, arguments, kernel)


class _XLA:
    """Results and workspaces of XLA's calls."""

    def empty(self, like: Array, shape: tuple[int, ...], dtype: str) -> Array:
        assert like.call is not None
        tensor = next(like.call.results)
        found = tuple(tensor.shape), _frameworks.get_dtype_name(tensor)
        if found != (shape, dtype):
            raise RuntimeError(f"expects a result of shape {shape} and {dtype} in XLA's program, but got {found[0]} and {found[1]}")
        return Array(tensor, like.call)

    def allocate(self, like: Array, num_bytes: int, zero: bool) -> Any:
        if like.make_tensor().device_type == _PLATFORMS["cpu"]:  # where XLA may have none to lend
            return _frameworks.FRAMEWORKS["numpy"].allocate(like, num_bytes, zero)
        if zero:
            raise RuntimeError("expects a driver that says whether a stream is captured, for a kernel that counts in memory, but got none")
        assert like.call is not None
        return Array(like.call.native.allocate(num_bytes), like.call)

    def get_stream(self, like: Array) -> int:
        assert like.call is not None
        return like.call.native.stream

    def finish(self, like: Array, array: Array) -> Array:
        return array


_frameworks.FRAMEWORKS["attune_mlir"] = _XLA()


@dataclasses.dataclass(frozen=True)
class _Form:
    """Options of `attention`."""

    causal: bool
    window: tuple[int, int] | None
    softcap: float | None
    scale: float | None
    layout: str
    chip: str | None

    @property
    def masks(self) -> dict[str, Any]:
        """All but the chip."""
        return {name: value for name, value in vars(self).items() if name != "chip"}


_OPERANDS = (*_gradients.PARTS, _operands.name_slopes(), "sinks")


def _run_attention(native: _native.XLACall, given: list[str], return_lse: bool, chip: str | None, **options: Any) -> None:
    call = Call(native, given)
    arrays = (call.operands.get(name) for name in _OPERANDS)
    _attention.compute(*arrays, **options, return_lse=return_lse, chip=chip, known=call.learn)


def _run_gradients(native: _native.XLACall, given: list[str], wanted: list[bool], chip: str | None, **options: Any) -> None:
    call = Call(native, given)
    arrays = [call.operands.get(name) for name in _OPERANDS]
    saved = _gradients.Saved(*(call.operands.get(field.name) for field in dataclasses.fields(_gradients.Saved)))
    _attention.compute_gradients(
        (arrays[0], arrays[1], arrays[2], arrays[3], arrays[4]),
        saved,
        (wanted[0], wanted[1], wanted[2], wanted[3]),
        deterministic=False,
        chip=chip,
        known=call.learn,
        **options,
    )


#: By name; each has the options of its calls.
_CALLS: dict[str, Callable[..., None]] = {"attention": _run_attention, "attention_gradients": _run_gradients}


def run(native: _native.XLACall) -> str:
    """Makes a call, on a thread of XLA's. Gives what is wrong, if something is."""
    try:
        options = json.loads(native.text)
        _CALLS[options.pop("call")](native, **options)
    except BaseException as error:
        return str(error) or type(error).__name__
    return ""


def _call(name: str, operands: dict[str, Any], results: Sequence[tuple[tuple[int, ...], Any]], **options: Any) -> Any:
    """The results of a custom call, by shapes and types. Operands that are None are left out."""
    given = {name: array for name, array in operands.items() if array is not None}
    text = json.dumps({"call": name, "given": list(given), **options}, sort_keys=True, separators=(",", ":"))
    # Within jax.shard_map, results differ between devices where operands do.
    varying: frozenset[Any] = frozenset().union(*(getattr(jax.typeof(array), "vma", ()) for array in given.values()))
    kinds = {"vma": varying} if varying else {}
    types = [jax.ShapeDtypeStruct(shape, dtype, **kinds) for shape, dtype in results]
    return jax.ffi.ffi_call(_TARGET, types)(*given.values(), does=text)


def _map(function: Callable[..., tuple[Any, ...]], num_folded: int, is_apart: bool = False) -> Callable[..., tuple[Any, ...]]:
    """The function for jax.vmap: a mapped dimension of the first arguments becomes a part of their batch, and of the results'.

    Where others are mapped, or results are those of each example (`is_apart`), it goes one by one.
    """
    mapped: Any = custom_vmap(function)

    @mapped.def_vmap  # type: ignore[untyped-decorator]
    def rule(size: int, is_mapped: list[Any], *arrays: Any) -> tuple[Any, Any]:
        if is_apart or any(is_mapped[num_folded:]):
            apart = [array if flag else None for array, flag in zip(arrays, is_mapped, strict=True)]
            found = jax.lax.map(lambda one: mapped(*(y if x is None else x for x, y in zip(one, arrays, strict=True))), apart)
            return found, (True,) * len(found)
        folded: list[Any] = []
        for array, flag in zip(arrays[:num_folded], is_mapped[:num_folded], strict=True):
            if array is None:
                folded.append(None)
                continue
            whole = array if flag else jnp.broadcast_to(array, (size, *array.shape))
            folded.append(whole.reshape(size * whole.shape[1], *whole.shape[2:]))
        found = mapped(*folded, *arrays[num_folded:])
        return tuple(x.reshape(size, x.shape[0] // size, *x.shape[1:]) for x in found), (True,) * len(found)

    return mapped  # type: ignore[no-any-return]


@functools.cache
def _check(problem: _devices.Problem) -> None:
    """CompileError where the dialect has no such problem."""
    problem.make_module()


def _read(form: _Form, operands: Sequence[Any], return_lse: bool) -> _attention.Call:
    """Checks operands while JAX traces, as they are checked when there are some."""
    stand_ins = (None if array is None else Array.stand_for(array) for array in operands)
    call = _attention.read_call(*stand_ins, **form.masks, return_lse=return_lse)
    _check(call.problem)
    return call


@functools.cache
def _make_forward(form: _Form, return_lse: bool) -> Callable[..., tuple[Any, ...]]:
    """The output, and the LSE where it is returned, of q, k, v, slopes and sinks."""

    def forward(*operands: Any) -> tuple[Any, ...]:
        call = _read(form, operands, return_lse)
        results = zip(call.results, (operands[0].dtype, jnp.float32), strict=False)
        named = dict(zip(_OPERANDS, operands, strict=True))
        return tuple(_call("attention", named, list(results), return_lse=return_lse, **vars(form)))

    return _map(forward, len(_gradients.PARTS))


_SAVED = tuple(field.name for field in dataclasses.fields(_gradients.Saved))


@functools.cache
def _make_backward(form: _Form, wanted: tuple[bool, ...]) -> Callable[..., tuple[Any, ...]]:
    """The gradients that are wanted of q, k, v and slopes, of these, without sinks, behind what is saved."""

    def backward(*arrays: Any) -> tuple[Any, ...]:
        *folded, slopes = arrays
        named = dict(zip((*_gradients.PARTS, *_SAVED), folded, strict=True)) | {_operands.name_slopes(): slopes}
        results = [(array.shape, array.dtype) for array, is_wanted in zip((*folded[:3], slopes), wanted, strict=True) if is_wanted]
        return tuple(_call("attention_gradients", named, results, wanted=wanted, **vars(form)))

    mapped = _map(backward, len(_gradients.PARTS) + len(_SAVED), is_apart=wanted[-1])
    once: Any = jax.custom_vjp(mapped)

    def refuse(*_: Any) -> Any:
        raise NotImplementedError("expects first derivatives of attention alone, but got a second one, for which attune_mlir has no kernel")

    once.defvjp(lambda *arrays: (mapped(*arrays), None), refuse)
    return once  # type: ignore[no-any-return]


def _differentiate_sinks(sinks: Any, out: Any, lse: Any, out_grad: Any, lse_grad: Any, layout: str) -> Any:
    """The gradient of the sinks: -sum exp(sink - lse) * (out_grad · out - lse_grad), by heads."""
    deltas = (out_grad.astype(jnp.float32) * out).sum(-1)
    if layout == "bshd":
        deltas = deltas.swapaxes(1, 2)
    if lse_grad is not None:
        deltas = deltas - lse_grad
    return -(jnp.exp(sinks[:, None] - lse) * deltas).sum((0, 2))


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class _Wanted:
    """Of which operands gradients are wanted; no array, and known while JAX traces."""

    of: tuple[bool, ...]


def _find_gradients(form: _Form, saved: tuple[Any, ...], gradients: tuple[Any, Any]) -> tuple[Any, ...]:
    """Those of q, k, v, slopes and sinks; None where they are not wanted."""
    wanted, operands, out, lse = saved
    *parts, slopes, sinks = operands
    out_grad, lse_grad = gradients
    if isinstance(out_grad, SymbolicZero):
        out_grad = jnp.zeros_like(out)
    if isinstance(lse_grad, SymbolicZero):
        lse_grad = None
    *of_kernel, of_sinks = wanted.of
    found: list[Any] = [None] * len(wanted.of)
    if of_sinks:
        found[-1] = _differentiate_sinks(sinks, out, lse, out_grad, lse_grad, form.layout)
    if not (parts[0].size and parts[1].size):
        made = iter([jnp.zeros_like(x) for x, is_wanted in zip(operands, of_kernel, strict=False) if is_wanted])
    elif any(of_kernel):
        made = iter(_make_backward(form, tuple(of_kernel))(*parts, out, lse, out_grad, lse_grad, slopes))
    found[:-1] = [next(made) if is_wanted else None for is_wanted in of_kernel]
    return tuple(found)


@functools.cache
def _make(form: _Form, return_lse: bool) -> Callable[..., Any]:
    """Attention of q, k, v, slopes and sinks with its gradients. Eagerly, JAX repeats what it compiled for such arrays."""

    def compute(*operands: Any) -> Any:
        found = _make_forward(form, return_lse)(*operands)
        return found if return_lse else found[0]

    def compute_and_save(*operands: Any) -> Any:
        values = tuple(None if one is None else one.value for one in operands)
        out, lse = _make(form, True)(*values)  # not the kernel alone, for this may be differentiated
        wanted = _Wanted(tuple(one is not None and one.perturbed for one in operands))
        return (out, lse) if return_lse else out, (wanted, values, out, lse)

    def differentiate(saved: Any, gradients: Any) -> Any:
        with_lse = gradients if return_lse else (gradients, SymbolicZero(saved[3]))
        return _find_gradients(form, saved, with_lse)

    function: Any = jax.custom_vjp(compute)
    function.defvjp(compute_and_save, differentiate, symbolic_zeros=True)
    return jax.jit(function)  # type: ignore[no-any-return]


def attention(operands: tuple[Any, ...], options: dict[str, Any], *, return_lse: bool, out: Any, stream: int | None) -> Any:
    """What `attune_mlir.attention` does with arrays of JAX; `operands` are q, k, v, slopes and sinks."""
    if out is not None:
        raise TypeError("expects out to be a writable array, but arrays of JAX are not: leave it out, and use what is returned")
    if stream is not None:
        raise TypeError("expects no stream with arrays of JAX, whose programs have their own, but got one: leave it out")
    for name, array in zip(("q", "k", "v", "alibi_slopes", "sinks"), operands, strict=True):
        if array is not None and not _frameworks.is_jax(array):
            raise TypeError(f"expects {name} to be an array of JAX, as q is, but got {_frameworks.describe_type(array)}")
    window, softcap, scale = _attention.check_options(options["window"], options["softcap"], options["scale"], options["layout"])
    if options["chip"] is not None:
        _devices.check_chip(options["chip"], "chip")
    form = _Form(bool(options["causal"]), window, softcap, scale, options["layout"], options["chip"])
    return _make(form, bool(return_lse))(*operands)
