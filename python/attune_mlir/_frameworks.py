# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of other people: which memory they are, and how their framework allocates more.

No framework is imported: an array's own module is there already.
"""

from __future__ import annotations

import sys
from typing import Any, Protocol

from . import _native

#: Floats of 8 bits, as NumPy's extension and PyTorch call them.
FLOAT8_NAMES = {
    _native.DataType.F8E4M3FN: "float8_e4m3fn",
    _native.DataType.F8E5M2: "float8_e5m2",
    _native.DataType.F8E4M3FNUZ: "float8_e4m3fnuz",
    _native.DataType.F8E5M2FNUZ: "float8_e5m2fnuz",
}
DTYPE_NAMES = {_native.DataType.F16: "float16", _native.DataType.BF16: "bfloat16", _native.DataType.F32: "float32", **FLOAT8_NAMES}
_FLOAT8_SET = frozenset(FLOAT8_NAMES.values())
#: "uint8" holds two integers of 4 bits.
_NARROW_SET = _FLOAT8_SET | {"int8", "uint8"}
#: What NumPy cannot hand out, as PyTorch cannot before it spoke DLPack 1.1: what to view it as.
_VIEWS = {"bfloat16": ("uint16", _native.DataType.BF16), **{name: ("uint8", dtype) for dtype, name in FLOAT8_NAMES.items()}}

#: Of what stands for arrays while a framework traces.
TRACED = "traced"
#: Device types of DLPack, where 0 is none, and what the runtime calls them.
_DEVICE_KINDS = {0: TRACED, 1: "cpu", 2: "cuda", 3: "cpu", 10: "hip", 11: "cpu", 13: "cuda"}
_DLPACK_CODES = {0: "int", 1: "uint", 2: "float", 3: "handle", 4: "bfloat", 5: "complex", 6: "bool"}


class Framework(Protocol):
    """Where results and workspaces of a call come from."""

    def empty(self, like: Any, shape: tuple[int, ...], dtype: str) -> Any:
        """An array on the device of `like`, in row-major order; `dtype` is as NumPy calls it."""

    def allocate(self, like: Any, num_bytes: int, zero: bool) -> Any:
        """Bytes on the device of `like`; with `zero` they are 0 for what is queued later."""

    def get_stream(self, like: Any) -> int:
        """The handle of the stream that this thread queues on, of the device of `like`."""

    def finish(self, like: Any, array: Any) -> Any:
        """What callers are given of an array that `empty` made and a kernel has written, or will have in the order of the stream."""


class _Same:
    def finish(self, like: Any, array: Any) -> Any:
        return array


class NumPy(_Same):
    """Arrays of NumPy; bfloat16 is that of ml_dtypes."""

    def empty(self, like: Any, shape: tuple[int, ...], dtype: str) -> Any:
        return sys.modules["numpy"].empty(shape, dtype=like.dtype if dtype == like.dtype.name else dtype)

    def allocate(self, like: Any, num_bytes: int, zero: bool) -> Any:
        numpy = sys.modules["numpy"]
        return (numpy.zeros if zero else numpy.empty)(num_bytes, dtype="uint8")

    def get_stream(self, like: Any) -> int:
        return 0


class Torch(_Same):
    """Tensors of PyTorch."""

    def empty(self, like: Any, shape: tuple[int, ...], dtype: str) -> Any:
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)

    def allocate(self, like: Any, num_bytes: int, zero: bool) -> Any:
        torch = sys.modules["torch"]
        return (torch.zeros if zero else torch.empty)(num_bytes, dtype=torch.uint8, device=like.device)

    def get_stream(self, like: Any) -> int:
        if like.device.type == "cpu":
            return 0
        return int(sys.modules["torch"].cuda.current_stream(like.device).cuda_stream)


class CuPy(_Same):
    """Arrays of CuPy."""

    def empty(self, like: Any, shape: tuple[int, ...], dtype: str) -> Any:
        with like.device:
            return sys.modules["cupy"].empty(shape, dtype=dtype)

    def allocate(self, like: Any, num_bytes: int, zero: bool) -> Any:
        cupy = sys.modules["cupy"]
        with like.device:
            return (cupy.zeros if zero else cupy.empty)(num_bytes, dtype="uint8")

    def get_stream(self, like: Any) -> int:
        return int(sys.modules["cupy"].cuda.get_current_stream().ptr)


class Jax(NumPy):
    """Arrays of JAX where no program of XLA's is made. Nobody writes these: results are NumPy's until the kernel has ended."""

    def empty(self, like: Any, shape: tuple[int, ...], dtype: str) -> Any:
        (device,) = like.devices()
        if device.platform != "cpu":
            raise TypeError(
                f"expects arrays of JAX on the CPU, but got one on {device}: memory that JAX allocates there is not written by others. "
                "Pass torch.from_dlpack(array), and read the result by jax.dlpack.from_dlpack; neither copies"
            )
        return super().empty(like, shape, dtype)

    def finish(self, like: Any, array: Any) -> Any:
        (device,) = like.devices()
        return sys.modules["jax"].device_put(array, device)


_JAX = Jax()
#: By the first part of the name of an array's module.
FRAMEWORKS: dict[str, Framework] = {"numpy": NumPy(), "torch": Torch(), "cupy": CuPy(), "jax": _JAX, "jaxlib": _JAX}


def find_framework(array: object) -> Framework:
    """Who allocates for a call that is given `array`, of a class of a framework or one derived of that."""
    for kind in type(array).__mro__:
        if framework := FRAMEWORKS.get(kind.__module__.partition(".")[0]):
            return framework
    known = ", ".join(name for name in FRAMEWORKS if name not in ("jaxlib", "attune_mlir"))
    raise TypeError(f"expects arrays of {known}, whose allocators are known, but got {describe_type(array)}")


def is_jax(array: object) -> bool:
    """Whether this is an array of JAX, or what stands for one while a program is traced."""
    return type(array).__module__.partition(".")[0] in ("jax", "jaxlib")


def is_torch(array: object) -> bool:
    """Whether this is a tensor of PyTorch, or what stands for one while a program is traced."""
    if type(array).__module__.partition(".")[0] == "torch":
        return True
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def is_watched(places: str, is_plain: bool, *arrays: Any, records: bool = False, casts: bool = False) -> bool:
    """Whether something of PyTorch has to see the call besides us, autograd among them where this `records`, autocast where it `casts`.

    ValueError where it is not `is_plain`, for it has `places`.
    """
    if not is_torch(arrays[0]):
        return False
    from . import _torch

    if not _torch.is_traced(*arrays) and not (records and _torch.records(*arrays)) and not (casts and _torch.is_autocast()):
        return False
    if not is_plain:
        what = "traces, maps, casts or records gradients" if records else "traces or maps"
        raise ValueError(f"expects {places} in plain calls alone, not where PyTorch {what}")
    return True


def describe_type(array: object) -> str:
    """An array's type, as users write it."""
    return f"{type(array).__module__}.{type(array).__qualname__}".removeprefix("builtins.")


def _check_jax(array: Any, name: str, writable: bool) -> None:
    """Waits for the contents of an array of JAX."""
    if isinstance(array, sys.modules["jax"].core.Tracer):
        raise TypeError(f"expects {name} to be an array, but got what a function of JAX is traced with: call it by jax.pure_callback there")
    if writable:
        raise TypeError(f"expects {name} to be a writable array, but arrays of JAX are not: leave it out, and use what is returned")
    array.block_until_ready()


def make_tensor(array: Any, name: str, *, writable: bool = False) -> _native.Tensor:
    """The memory of an array, called `name` in errors. TypeError for what is no array, or cannot be written."""
    view, dtype = array, None
    framework = type(array).__module__.partition(".")[0]
    if framework == "numpy" and (found := _VIEWS.get(getattr(array.dtype, "name", ""))):
        view, dtype = array.view(found[0]), found[1]
    elif framework == "torch" and array.dtype.itemsize == 1 and (found := _VIEWS.get(str(array.dtype).removeprefix("torch."))):
        view, dtype = array.view(sys.modules["torch"].uint8), found[1]
    elif is_jax(array):
        _check_jax(array, name, writable)
    elif framework == "attune_mlir":
        return array.make_tensor()  # type: ignore[no-any-return]
    tensor = _native.Tensor.from_array(view, writable, dtype)
    if tensor is not None:
        return tensor
    if not hasattr(array, "__dlpack__"):
        raise TypeError(f"expects {name} to be an array with __dlpack__, but got {describe_type(array)}")
    if getattr(array, "is_meta", False):
        raise TypeError(f"expects {name} to be an array in memory, but got a tensor of the device meta")
    kind = "a writable array" if writable else "an array"
    raise TypeError(f"expects {name} to be {kind} in strided memory, but its __dlpack__ fails: detach or copy it")


def is_narrow(array: object) -> bool:
    """Whether an array's elements have 8 bits: floats, or one or two signed integers in the place of floats."""
    dtype = getattr(array, "dtype", None)
    size = getattr(dtype, "itemsize", None)
    # Nearly all have 16, and names of types take time.
    is_wide = type(size) is int and size > 1
    return not is_wide and str(dtype).removeprefix("torch.") in _NARROW_SET


def name_float8(dtype: object, name: str) -> str | None:
    """The name of a float of 8 bits, which a framework has or which is named; None stays."""
    if dtype is None:
        return None
    # A type of ml_dtypes is a class of Python.
    found = getattr(dtype, "__name__", str(dtype)).removeprefix("torch.")
    if found not in _FLOAT8_SET:
        raise TypeError(f"expects {name} to be a type of 8 bits ({', '.join(sorted(_FLOAT8_SET))}) or None, but got {found!r}")
    return found


def name_narrow(dtype: object, name: str) -> str:
    """The name of a type of 8 bits, of which "uint8" holds two integers of 4 bits."""
    found = getattr(dtype, "__name__", str(dtype)).removeprefix("torch.")
    if found not in _NARROW_SET:
        raise TypeError(f"expects {name} to be a type of 8 bits ({', '.join(sorted(_NARROW_SET))}), but got {found!r}")
    return found


def get_dtype_name(tensor: _native.Tensor) -> str:
    """As NumPy calls it."""
    if tensor.dtype in DTYPE_NAMES:
        return DTYPE_NAMES[tensor.dtype]
    return f"{_DLPACK_CODES.get(tensor.code, 'type ')}{tensor.bits}"


def get_device(tensor: _native.Tensor, name: str) -> tuple[str, int]:
    """Kind and number of the device that an array is on."""
    if kind := _DEVICE_KINDS.get(tensor.device_type):
        return kind, tensor.device_number if kind != "cpu" else 0
    raise ValueError(f"expects {name} in memory of the CPU, CUDA or ROCm, but got DLPack's device type {tensor.device_type}")
