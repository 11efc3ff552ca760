# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention of JAX's arrays, eagerly and within programs that JAX traces: custom calls of XLA, all of one target.

What such a call computes is said by a string, for programs live on in other processes: JSON with the name of what `_CALLS` has, and its
options. Sizes and types are those of XLA's buffers. XLA calls the extension, which repeats what it knows and hands the rest to `run`.

Nothing here is imported before there is an array of JAX.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap
from jax.custom_derivatives import SymbolicZero

from . import _attention, _devices, _frameworks, _gradients, _jax_sharding, _known, _merge, _native, _operands, _quantize, _serving

_TARGET = "attune_mlir"
#: Makes JSON; `json.dumps` would set it up each time.
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
#: Platforms of XLA, and DLPack's types of their devices.
_PLATFORMS = {"cpu": 1, "CUDA": 2, "ROCM": 10}
for _platform, _device_type in _PLATFORMS.items():
    jax.ffi.register_ffi_target(_TARGET, _native.xla_handler(_device_type), platform=_platform, api_version=1)

#: DLPack's codes, by what NumPy calls a type without its bits.
_CODES = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "complex": 5, "bool": 6}
_FLOAT8_CODES = {"float8_e4m3fn": 10, "float8_e4m3fnuz": 11, "float8_e5m2": 12, "float8_e5m2fnuz": 13}


def _describe(shape: Sequence[int], dtype: Any) -> _native.Tensor:
    """What stands for an array of this type and shape, on no device."""
    name = str(dtype)
    kind = name.rstrip("0123456789")
    bits = int(name[len(kind) :] or 8 * dtype.itemsize)
    return _native.Tensor.from_memory(0, list(shape), _FLOAT8_CODES.get(name, _CODES.get(kind, 3)), bits, 0, 0)


class Array:
    """A buffer of XLA's within a call, or what stands for one while JAX traces: that has a type and a shape, and no memory."""

    def __init__(self, tensor: _native.Tensor, call: Call, source: Any = None) -> None:
        self._tensor, self.call, self._source = tensor, call, source

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._tensor.shape)

    @property
    def dtype(self) -> Any:
        return jnp.dtype(_frameworks.get_dtype_name(self._tensor))

    def make_tensor(self) -> _native.Tensor:
        """One of its own, for strides are changed where they are read."""
        return self._view(0, list(self._tensor.shape))

    def tolist(self) -> Any:
        """The contents of what an array stands for."""
        return self._source.tolist()

    def __getitem__(self, part: slice | int | None) -> Array:
        """Some of its bytes; or with another dimension of 1 in front, or without that one."""
        size = self.shape
        if part is None:
            return Array(self._view(0, [1, *size]), self.call)
        if not isinstance(part, slice):
            return Array(self._view(0, list(size[1:])), self.call)
        begin, end, _ = part.indices(size[0])
        return Array(self._view(begin, [end - begin]), self.call)

    def _view(self, offset: int, shape: list[int]) -> _native.Tensor:
        of = self._tensor
        return _native.Tensor.from_memory(of.address + offset, shape, of.code, of.bits, of.device_type, of.device_number)


class Call:
    """A call of XLA's, whose results are handed out in their order, or one that is traced, which notes what they have to be."""

    def __init__(self, operands: dict[str, _native.Tensor], native: _native.XLACall | None = None, sources: Any = None) -> None:
        self._native = native
        self.operands = {name: Array(tensor, self, (sources or {}).get(name)) for name, tensor in operands.items()}
        #: Shapes and types of results.
        self.noted: list[tuple[tuple[int, ...], Any]] = []

    def take(self, shape: tuple[int, ...], dtype: str) -> Array:
        """The next result."""
        number = len(self.noted)
        self.noted.append((shape, jnp.dtype(dtype)))
        if self._native is None:
            return Array(_describe(*self.noted[-1]), self)
        tensor = self._native.results[number]
        found = tuple(tensor.shape), _frameworks.get_dtype_name(tensor)
        if found != (shape, dtype):
            raise RuntimeError(f"expects a result of shape {shape} and {dtype} in XLA's program, but got {found[0]} and {found[1]}")
        return Array(tensor, self)

    def allocate(self, num_bytes: int) -> Array:
        """Bytes of a GPU, until the call ends."""
        assert self._native is not None
        return Array(self._native.allocate(num_bytes), self)

    @property
    def stream(self) -> int:
        return 0 if self._native is None else self._native.stream

    def learn(self, given: Sequence[Any], places: list[int], results: list[int], arguments: Any, kernel: _native.Kernel, _: int) -> bool:
        """Knows the call from now on, if its kernel reads all operands. Those `given` are at these places, but for None; others by name."""
        found = dict(zip((id(array) for array in given if array is not None), places, strict=True))
        by_name = _devices.find_places(kernel)
        read = [found.get(id(array), by_name.get(name, -1)) for name, array in self.operands.items()]
        return self._native is not None and min(read) >= 0 and self._native.learn(read, results, arguments, kernel)


class _XLA:
    """Results and workspaces of XLA's calls."""

    def empty(self, like: Array, shape: tuple[int, ...], dtype: str) -> Array:
        return like.call.take(shape, dtype)

    def allocate(self, like: Array, num_bytes: int, zero: bool) -> Any:
        if like.make_tensor().device_type == _PLATFORMS["cpu"]:  # where XLA may have none to lend
            return _frameworks.FRAMEWORKS["numpy"].allocate(like, num_bytes, zero)
        if zero:
            raise RuntimeError("expects a driver that says whether a stream is captured, for a kernel that counts in memory, but got none")
        return like.call.allocate(num_bytes)

    def get_stream(self, like: Array) -> int:
        return like.call.stream

    def finish(self, like: Array, array: Array) -> Array:
        return array


_frameworks.FRAMEWORKS["attune_mlir"] = _XLA()


_OPERANDS = (*_gradients.PARTS, _operands.name_slopes(), "sinks")
#: Of packed sequences, and which arguments of `varlen` they are.
_CLAUSES = {"query_starts": "cu_seqlens_q", "key_starts": "cu_seqlens_k", "key_lengths": "seqused_k"}
_SAVED = tuple(field.name for field in dataclasses.fields(_gradients.Saved))


def _run_attention(call: Call, **options: Any) -> None:
    _attention.compute(*map(call.operands.get, _OPERANDS), **options, known=call.learn)


def _run_gradients(call: Call, wanted: Sequence[bool], **options: Any) -> None:
    q, k, v, slopes, sinks = map(call.operands.get, _OPERANDS)
    of_q, of_k, of_v, of_slopes = wanted
    saved = _gradients.Saved(*map(call.operands.get, _SAVED))
    _attention.compute_gradients(
        (q, k, v, slopes, sinks), saved, (of_q, of_k, of_v, of_slopes, False), deterministic=False, known=call.learn, **options
    )


def _run_varlen_gradients(call: Call, wanted: Sequence[bool], longest: Sequence[int | None], batch_invariant: bool, **options: Any) -> None:
    packed = _serving.Packed({clause: call.operands.get(clause) for clause in _CLAUSES}, (longest[0], longest[1]), batch_invariant)
    _run_gradients(call, wanted, packed=packed, layout="bshd", **options)


def _run_decode(call: Call, **options: Any) -> None:
    arguments: dict[str, Any] = {"v_cache": None, **call.operands, **options}
    _serving.decode(**arguments)


def _run_varlen(call: Call, **options: Any) -> None:
    arguments: dict[str, Any] = {"v": None, **call.operands, **options}
    _serving.varlen(**arguments)


def _run_merge(call: Call, **options: Any) -> None:
    numbers = range(len(call.operands) // 2)
    outputs, lses = ([call.operands[f"{kind}[{number}]"] for number in numbers] for kind in ("outputs", "lses"))
    _merge.merge(outputs, lses, **options)


def _run_quantize(call: Call, flags: Sequence[bool], **options: Any) -> None:
    x, (smooth, rotate, zeros) = call.operands["x"], flags
    _quantize.compute(x, flags=(smooth, rotate, zeros), **options, stream=None, attempt=_known.Attempt("quantize", (), {"x": x}))


#: By name; each has the options of its calls, and hands out results as it asks for them.
_CALLS: dict[str, Callable[..., None]] = {
    "attention": _run_attention,
    "attention_gradients": _run_gradients,
    "decode": _run_decode,
    "varlen": _run_varlen,
    "varlen_gradients": _run_varlen_gradients,
    "merge": _run_merge,
    "quantize": _run_quantize,
}


def run(native: _native.XLACall) -> str:
    """Makes a call, on a thread of XLA's. Gives what is wrong, if something is."""
    try:
        options = json.loads(native.text)
        name, given = options.pop("call"), options.pop("given")
        _CALLS[name](Call(dict(zip(given, native.operands, strict=True)), native), **options)
    except BaseException as error:
        return str(error) or type(error).__name__
    return ""


def _find_chip() -> str | None:
    """The chip of the device that JAX makes programs for if it is not told another one; None where that is not known."""
    default = jax.config.jax_default_device
    device = jax.local_devices(backend=default)[0] if default is None or isinstance(default, str) else default
    if device.platform == "cpu":
        return _devices.choose_host_chip()
    kind = getattr(device, "compute_capability", "")  # as in 9.0, or of ROCm the name
    chip = _native.chip_of_device(kind if kind.startswith("gfx") else "sm_" + kind.replace(".", ""))
    return chip if chip in _native.chips() else None


def _trace(name: str, operands: dict[str, Any], options: dict[str, Any]) -> list[tuple[tuple[int, ...], Any]]:
    """Checks a call as it is checked when it is made, and that there is a kernel. Gives shapes and types of its results."""
    call = Call({name: _describe(array.shape, array.dtype) for name, array in operands.items()}, sources=operands)
    with contextlib.suppress(_devices.Traced):
        _CALLS[name](call, **{**options, "chip": _find_chip() if options["chip"] is None else options["chip"]})
    return call.noted


def _call(name: str, operands: dict[str, Any], **options: Any) -> tuple[Any, ...]:
    """The results of a custom call. Operands that are None are left out."""
    operands = {name: array for name, array in operands.items() if array is not None}
    text = _encode({"call": name, "given": list(operands), **options})

    def compute(*arrays: Any) -> tuple[Any, ...]:
        given = dict(zip(operands, arrays, strict=True))
        types = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in _trace(name, given, options)]
        results = jax.ffi.ffi_call(_TARGET, types, vmap_method="sequential")(*arrays, does=text)
        # Within jax.shard_map, results differ between devices where operands do.
        varying = sorted(set().union(*(jax.typeof(array).manual_axis_type.varying for array in arrays)))
        return tuple(jax.lax.pcast(result, tuple(varying), to="varying") for result in results)

    found: tuple[Any, ...] = _jax_sharding.divide(name, compute, operands, options)(*operands.values())
    return found


def _call_packed(name: str, operands: dict[str, Any], options: dict[str, Any], is_packed: bool) -> tuple[Any, ...]:
    """The same. Where that `is_packed`, results have a batch of 1 in front, which is left out."""
    found = _call(name, operands, **options)
    return tuple(x[0] for x in found) if is_packed else found


_NO_SECOND = "expects first derivatives of attention alone, but got a second one, for which attune_mlir has no kernel"


def _refuse_gradients(function: Callable[..., Any], text: str) -> Any:
    """The function, with NotImplementedError where gradients are wanted."""
    refusing: Any = jax.custom_vjp(function)

    def refuse(*_: Any) -> Any:
        raise NotImplementedError(text)

    refusing.defvjp(lambda *arrays: (function(*arrays), None), refuse)
    return refusing


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
        batch = arrays[0].shape[int(is_mapped[0])]
        found = mapped(*folded, *arrays[num_folded:])
        return tuple(x.reshape(size, batch, *x.shape[1:]) for x in found), (True,) * len(found)

    return mapped  # type: ignore[no-any-return]


@functools.cache
def _make_forward(text: str) -> Callable[..., tuple[Any, ...]]:
    """The output, and the LSE where it is returned, of q, k, v, slopes and sinks, with options as JSON."""
    options = json.loads(text)

    def forward(*operands: Any) -> tuple[Any, ...]:
        return _call("attention", dict(zip(_OPERANDS, operands, strict=True)), **options)

    return _map(forward, len(_gradients.PARTS))


@functools.cache
def _make_backward(name: str, text: str, wanted: tuple[bool, ...]) -> Callable[..., tuple[Any, ...]]:
    """The gradients that are wanted of q, k, v and slopes, of these, with what is saved before slopes, and integers behind all."""
    options = json.loads(text)
    names = (*_gradients.PARTS, *_SAVED, _operands.name_slopes())
    num_folded, is_packed = len(names) - 1, name == "varlen"
    kept = {key: options[key] for key in ("causal", "window", "softcap", "scale", "chip", "batch_invariant" if is_packed else "layout")}
    if is_packed:
        names += tuple(_CLAUSES)
        kept["longest"] = (options["max_seqlen_q"], options["max_seqlen_k"])

    def backward(*arrays: Any) -> tuple[Any, ...]:
        return _call(f"{name}_gradients", dict(zip(names, arrays, strict=True)), wanted=wanted, **kept)

    mapped = _map(backward, num_folded, is_apart=is_packed or wanted[-1])
    return _refuse_gradients(mapped, _NO_SECOND)  # type: ignore[no-any-return]


def _differentiate_sinks(sinks: Any, out: Any, lse: Any, out_grad: Any, lse_grad: Any, layout: str) -> Any:
    """The gradient of the sinks: -sum exp(sink - lse) * (out_grad · out - lse_grad), by heads.

    What is behind the last one of packed sequences saw no sink, and has an LSE of -inf.
    """
    deltas = (out_grad.astype(jnp.float32) * out).sum(-1)
    if layout == "bshd":
        deltas = deltas.swapaxes(1, 2)
    if lse_grad is not None:
        deltas = deltas - lse_grad
    return -jnp.where(lse > -jnp.inf, jnp.exp(sinks[:, None] - lse) * deltas, 0).sum((0, 2))


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class _Wanted:
    """Of which operands gradients are wanted; no array, and known while JAX traces."""

    of: tuple[bool, ...]


def _find_gradients(
    layout: str, make_backward: Callable[[tuple[bool, ...]], Callable[..., Any]], saved: tuple[Any, ...], gradients: tuple[Any, Any]
) -> tuple[Any, ...]:
    """Those of q, k, v, slopes and sinks; None where they are not wanted.

    `make_backward` makes what gives those that are wanted of all but sinks, of q, k, v, what is saved, and slopes.
    """
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
        found[-1] = _differentiate_sinks(sinks, out, lse, out_grad, lse_grad, layout)
    if not (parts[0].size and parts[1].size):
        made = iter([jnp.zeros_like(x) for x, is_wanted in zip(operands, of_kernel, strict=False) if is_wanted])
    elif any(of_kernel):
        made = iter(make_backward(tuple(of_kernel))(*parts, out, lse, out_grad, lse_grad, slopes))
    found[:-1] = [next(made) if is_wanted else None for is_wanted in of_kernel]
    return tuple(found)


def _check_places(out: Any, stream: int | None) -> None:
    if out is not None:
        raise TypeError("expects out to be a writable array, but arrays of JAX are not: leave it out, and use what is returned")
    if stream is not None:
        raise TypeError("expects no stream with arrays of JAX, whose programs have their own, but got one: leave it out")


def _check_arrays(operands: dict[str, Any]) -> None:
    """TypeError for arrays that JAX does not take."""
    first = next(iter(operands))
    for name, array in operands.items():
        if array is not None and not _frameworks.is_jax(array) and type(array).__module__.partition(".")[0] != "numpy":
            raise TypeError(f"expects {name} to be an array of JAX, as {first} is, or NumPy, but got {_frameworks.describe_type(array)}")


@functools.cache
def _make_other(name: str, text: str, is_packed: bool) -> Callable[..., Any]:
    """A function of operands by their names, with options as JSON."""
    options = json.loads(text)
    no_gradients = f"expects {name} of arrays of JAX without gradients, for which attune_mlir has no kernel: use jax.lax.stop_gradient"

    def compute(operands: dict[str, Any]) -> tuple[Any, ...]:
        return _call_packed(name, operands, options, is_packed)

    return jax.jit(_refuse_gradients(compute, no_gradients))  # type: ignore[no-any-return]


_LEARNED = ("q", "k", "v", "alibi_slopes", "sinks")


@functools.cache
def _make_learned(name: str, text: str) -> Callable[..., Any]:
    """`attention` or `varlen` with its gradients, as `_make_other` has it. Eagerly, JAX repeats what it compiled for such arrays."""
    options = json.loads(text)
    return_lse, is_packed = options["return_lse"], name == "varlen"
    text_with_lse = _encode({**options, "return_lse": True})

    def compute(operands: dict[str, Any]) -> tuple[Any, ...]:
        return _call_packed(name, operands, options, is_packed) if is_packed else _make_forward(text)(*map(operands.get, _LEARNED))

    def compute_and_save(operands: dict[str, Any]) -> Any:
        values = {name: None if one is None else one.value for name, one in operands.items()}
        out, lse = _make_learned(name, text_with_lse)(values)  # not the kernel alone, for this may be differentiated
        wanted = _Wanted(tuple(operands[name] is not None and operands[name].perturbed for name in _LEARNED))
        return (out, lse) if return_lse else (out,), (wanted, values, out, lse)

    def differentiate(saved: Any, gradients: Any) -> Any:
        wanted, values, *results = saved
        integers = [values[name] for name in _CLAUSES.values()] if is_packed else []

        def make_backward(wanted: tuple[bool, ...]) -> Callable[..., Any]:
            return lambda *arrays: _make_backward(name, text, wanted)(*arrays, *integers)

        operands = [values[name] for name in _LEARNED]
        given = (*gradients, SymbolicZero(results[1]))[:2]
        if is_packed:
            operands[:3], results = ([x[None] for x in part] for part in (operands[:3], results))
            given = tuple(x if isinstance(x, SymbolicZero) else x[None] for x in given)
        found = _find_gradients(options.get("layout", "bshd"), make_backward, (wanted, operands, *results), given)
        made = dict(zip(_LEARNED, found, strict=True))
        return ({name: made[name][0] if is_packed and name in "qkv" and made[name] is not None else made.get(name) for name in values},)

    function: Any = jax.custom_vjp(compute)
    function.defvjp(compute_and_save, differentiate, symbolic_zeros=True)
    return jax.jit(function)  # type: ignore[no-any-return]


@functools.cache
def _make_merge(text: str, is_packed: bool) -> Callable[..., Any]:
    """`merge` with its gradients, as `_make_other` has it.

    Those of output i are w = exp(lse_i - lse) of those of the result; of lse_i, w (out_grad · (out_i - out) + lse_grad).
    """
    options = json.loads(text)
    text_with_lse = _encode({**options, "return_lse": True})
    rows_first = options["layout"] == "bshd"

    def swap(of_heads: Any) -> Any:
        return of_heads.swapaxes(-1, -2) if rows_first else of_heads

    def compute(operands: dict[str, Any]) -> tuple[Any, ...]:
        return _call_packed("merge", operands, options, is_packed)

    def compute_and_save(operands: dict[str, Any]) -> Any:
        out, lse = _make_merge(text_with_lse, is_packed)(operands)
        return (out, lse) if options["return_lse"] else (out,), (operands, out, lse)

    def differentiate(saved: Any, gradients: Any) -> Any:
        operands, out, lse = saved
        wide, made = gradients[0].astype(jnp.float32), {}
        for number in range(len(operands) // 2):
            part, log = operands[f"outputs[{number}]"], operands[f"lses[{number}]"]
            # A part without keys has none, whatever its output holds; nor has a query without keys.
            weights = jnp.exp(jnp.where(log > -jnp.inf, log - lse, -jnp.inf))
            of_rows = swap(weights)[..., None]
            made[f"outputs[{number}]"] = (of_rows * wide).astype(part.dtype)
            moved = jnp.where(of_rows > 0, part.astype(jnp.float32) - out.astype(jnp.float32), 0)
            made[f"lses[{number}]"] = weights * (swap((wide * moved).sum(-1)) + (gradients[1] if options["return_lse"] else 0))
        return (made,)

    function: Any = jax.custom_vjp(compute)
    function.defvjp(compute_and_save, differentiate)
    return jax.jit(function)  # type: ignore[no-any-return]


def _choose(name: str, operands: dict[str, Any], options: dict[str, Any], is_packed: bool) -> Callable[..., Any]:
    """The function, with gradients where there are kernels for these."""
    text = _encode(options)
    if name == "attention":
        return _make_learned(name, text)
    if name == "merge":
        return _make_merge(text, is_packed)
    parts = [operands.get(part) for part in "qkv"]
    given = {part for part, array in operands.items() if array is not None}
    is_plain = given <= {*_LEARNED, *_CLAUSES.values()} and all(options.get(part) is None for part in ("latent", "weights", "out_dtype"))
    if name == "varlen" and is_plain and all(part is not None and part.dtype.itemsize == 2 for part in parts):
        return _make_learned(name, text)
    return _make_other(name, text, is_packed)


def call(
    name: str,
    operands: dict[str, Any],
    options: dict[str, Any],
    *,
    out: Any,
    stream: int | None,
    check: bool = False,
    is_packed: bool = False,
) -> Any:
    """What the function `name` of attune_mlir does with arrays of JAX, which are its arguments by name.

    With `check`, integers are looked at before. It `is_packed` where sequences lie one behind the other.
    """
    _check_places(out, stream)
    _check_arrays(operands)
    if "window" in options:
        layout = options.get("layout", "bshd")
        window, softcap, scale = _attention.check_options(options["window"], options["softcap"], options["scale"], layout)
        options = {**options, "window": window, "softcap": softcap, "scale": scale}
    if check:
        if any(isinstance(array, jax.core.Tracer) for array in operands.values()):
            raise TypeError("expects check for arrays that are there, but got what a function of JAX is traced with: leave it out")
        _trace(name, {name: array for name, array in operands.items() if array is not None}, {**options, "check": True})
    found = _choose(name, operands, options, is_packed)(operands)
    return found if options.get("return_lse", True) else found[0]
