# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention on arrays: checks, the class of the problem, its kernel, the launch.

A kernel serves all batch sizes and lengths of its class, so that a new length compiles nothing.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
import os
import threading
from typing import Any

from . import _compiler, _frameworks, _native

#: Positions of the letters b, h, s and d in the layouts.
LAYOUTS = ("bshd", "bhsd")
#: What kernels read at once: addresses and strides are multiples of this.
_READ_BYTES = 16
_ELEMENT_BYTES = 2


@dataclasses.dataclass(frozen=True)
class Problem:
    """What a kernel is compiled for; batch size and lengths are not a part of it."""

    dtype: str
    heads: int
    kv_heads: int
    head_dim: int
    head_dim_v: int
    layout: str
    causal: bool
    window: tuple[int, int] | None
    softcap: float | None
    scale: float | None
    has_alibi: bool
    has_sinks: bool
    return_lse: bool
    #: Whether operands are other than row-major without gaps.
    strided: bool

    def make_module(self) -> _compiler.Module:
        """The problem in the attn dialect. CompileError where the dialect has no such problem."""
        native, said = _native.attention_module(
            sizes=(-1, self.heads, self.kv_heads, -1, -1, self.head_dim, self.head_dim_v),
            is_bf16=self.dtype == "bfloat16",
            order=self.layout,
            causal=self.causal,
            top_left=False,
            window=self.window,
            softcap=self.softcap,
            scale=self.scale,
            alibi=self.has_alibi,
            sinks=self.has_sinks,
            lse=self.return_lse,
            strided=self.strided,
        )
        if native is None:
            raise _compiler.CompileError(_compiler.parse_diagnostics(said))
        return _compiler.Module(native)


class Device:
    """Where kernels run, and those that are loaded there."""

    def __init__(self, kind: str, number: int, chip: str | None) -> None:
        self.is_host = kind == "cpu"
        if self.is_host:
            self.chip = chip or choose_host_chip()
            self._native = _native.open_executor(self.chip, 0)
        else:
            self._native = _native.open_device(kind, number)
            self.chip = chip or _native.chip_of_device(self._native.chip)
        #: For loading, and for the executor, which does one thing at a time.
        self.lock = threading.RLock()
        self._kernels: dict[Problem, _native.Kernel] = {}

    def get_kernel(self, problem: Problem) -> _native.Kernel:
        """The loaded kernel of a problem, compiled if it is nowhere."""
        if kernel := self._kernels.get(problem):
            return kernel
        with self.lock:
            if kernel := self._kernels.get(problem):
                return kernel
            compiled = _compiler.compile(problem.make_module(), chip=self.chip, format="llvm" if self.is_host else "bin")
            if len(compiled.kernels) != 1:
                raise NotImplementedError(f"expects attention to become one kernel, but {self.chip} has {len(compiled.kernels)}")
            made = compiled.kernels[0]
            kernel = _native.Kernel(self._native, made.image, made.manifest_json)
            self._kernels[problem] = kernel
            return kernel

    def launch(self, kernel: _native.Kernel, tensors: list[_native.Tensor], stream: int) -> None:
        """Queues a kernel; on the CPU it has ended afterwards."""
        if not self.is_host:
            kernel.launch(tensors, stream)
            return
        with self.lock:
            kernel.launch(tensors, stream)


_devices: dict[tuple[str, int, str | None], Device] = {}
_devices_lock = threading.Lock()


def choose_host_chip() -> str:
    """The chip whose kernels run on the CPU: $ATTUNE_HOST_CHIP, or the one with most shared memory, which takes the most problems."""
    if chip := os.environ.get("ATTUNE_HOST_CHIP"):
        return check_chip(chip, "ATTUNE_HOST_CHIP")
    return max(_compiler.chips(), key=lambda chip: chip.shared_bytes).name


def check_chip(chip: str, name: str) -> str:
    """The chip, if it is known."""
    if chip not in _native.chips():
        raise ValueError(f"expects {name} to be one of {', '.join(_native.chips())}, but got '{chip}'")
    return chip


def get_device(kind: str, number: int, chip: str | None) -> Device:
    """The device, which is opened once. ValueError for a chip that is not known, RuntimeError where there is no such device."""
    key = (kind, number, chip)
    if device := _devices.get(key):
        return device
    if chip is not None:
        check_chip(chip, "chip")
    with _devices_lock:
        if key not in _devices:
            _devices[key] = Device(*key)
        return _devices[key]


def _check_options(
    window: tuple[int, int] | None, softcap: float | None, scale: float | None, layout: str
) -> tuple[tuple[int, int] | None, float | None, float | None]:
    """Options as the dialect has them."""
    if layout not in LAYOUTS:
        raise ValueError(f"expects layout to be one of {', '.join(LAYOUTS)}, but got {layout!r}")
    if window is not None:
        if not isinstance(window, (tuple, list)) or len(window) != 2 or not all(isinstance(side, numbers.Integral) for side in window):
            raise TypeError(f"expects window to be two numbers of keys, left and right of the diagonal, but got {window!r}")
        if min(window) < -1:
            raise ValueError(f"expects sides of window to be at least 0, or -1 for unbounded, but got {tuple(window)}")
        window = None if tuple(window) == (-1, -1) else (int(window[0]), int(window[1]))
    for name, number in (("softcap", softcap), ("scale", scale)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, numbers.Real)):
            raise TypeError(f"expects {name} to be a number, but got {_frameworks.describe_type(number)}")
        if number is not None and not math.isfinite(number):
            raise ValueError(f"expects {name} to be finite, but got {number}")
    if softcap is not None and softcap <= 0:
        raise ValueError(f"expects softcap to be above 0, or None for no bound, but got {softcap}")
    return window, None if softcap is None else float(softcap), None if scale is None else float(scale)


def _normalize_strides(tensor: _native.Tensor, name: str) -> bool:
    """Gives dimensions of one element the stride that they would have, and says whether there are no gaps."""
    row_major = get_row_major(tensor.shape)
    strides = [dense if size <= 1 else given for size, given, dense in zip(tensor.shape, tensor.strides, row_major, strict=True)]
    if 0 in tensor.shape:
        strides = row_major
    tensor.strides = strides
    if strides == row_major:
        return True
    if strides[-1] != 1:
        raise ValueError(f"expects {name} to have stride 1 along the head dimension, but got strides of {strides} elements; copy it")
    step = math.gcd(_READ_BYTES // _ELEMENT_BYTES, tensor.shape[-1])
    if any(stride % step or stride < 0 for stride in strides[:-1]):
        raise ValueError(f"expects strides of {name} to be multiples of {step} elements, but got {strides}; copy it")
    return False


def get_row_major(shape: list[int]) -> list[int]:
    """Strides without gaps, in elements."""
    strides, size = [], 1
    for extent in reversed(shape):
        strides.append(size)
        size *= max(extent, 1)
    return strides[::-1]


def _check_operands(tensors: dict[str, _native.Tensor]) -> tuple[str, tuple[str, int]]:
    """Query, key and value one by one, and type and device of all."""
    dtypes, devices = {}, {}
    for name, tensor in tensors.items():
        dtypes[name] = _frameworks.get_dtype_name(tensor)
        devices[name] = _frameworks.get_device(tensor, name)
        if dtypes[name] not in ("float16", "bfloat16"):
            raise TypeError(f"expects {name} of float16 or bfloat16, but got {dtypes[name]}")
        if len(tensor.shape) != 4:
            raise ValueError(f"expects {name} to have 4 dimensions, but got shape {tuple(tensor.shape)}")
        if tensor.address % _READ_BYTES and 0 not in tensor.shape:
            raise ValueError(f"expects {name} to start at a multiple of {_READ_BYTES} bytes, but got address {tensor.address:#x}; copy it")
        for what, found in (("dtype", dtypes), ("device", devices)):
            if found[name] != found["q"]:
                raise (TypeError if what == "dtype" else ValueError)(
                    f"expects q, k and v to have one {what}, but got {found['q']} and, of {name}, {found[name]}"
                )
    return dtypes["q"], devices["q"]


@dataclasses.dataclass(frozen=True)
class _Sizes:
    batch: int
    heads: int
    seq_q: int
    head_dim: int
    kv_heads: int
    seq_k: int
    head_dim_v: int


def _read_sizes(tensors: dict[str, _native.Tensor], layout: str) -> _Sizes:
    """Sizes by name, and what they have to do with each other."""
    q, k, v = (dict(zip(layout, tensors[name].shape, strict=True)) for name in "qkv")
    shapes = ", ".join(f"{name} of shape {tuple(tensor.shape)}" for name, tensor in tensors.items())
    if not q["b"] == k["b"] == v["b"]:
        raise ValueError(f"expects q, k and v to have one batch size, but got {shapes}")
    if (k["h"], k["s"]) != (v["h"], v["s"]):
        raise ValueError(f"expects k and v to have one number of heads and one length, but got {shapes}")
    if q["d"] != k["d"]:
        raise ValueError(f"expects q and k to have one head dimension, but got {q['d']} and {k['d']}")
    if 0 in (q["h"], k["h"], q["d"], v["d"]):
        raise ValueError(f"expects at least one head and one element in each, but got {shapes}")
    if q["h"] % k["h"]:
        raise ValueError(f"expects the heads of q to be a multiple of those of k and v, but got {q['h']} and {k['h']}")
    return _Sizes(q["b"], q["h"], q["s"], q["d"], k["h"], k["s"], v["d"])


def _make_per_head(array: Any, name: str, heads: int, device: tuple[str, int]) -> _native.Tensor:
    """The tensor of one f32 per head."""
    tensor = _frameworks.make_tensor(array, name)
    if (dtype := _frameworks.get_dtype_name(tensor)) != "float32":
        raise TypeError(f"expects {name} of float32, but got {dtype}")
    if tuple(tensor.shape) != (heads,) or (heads > 1 and tensor.strides != [1]):
        raise ValueError(f"expects {name} to have one element per head of q, {heads} without gaps, but got shape {tuple(tensor.shape)}")
    if (found := _frameworks.get_device(tensor, name)) != device:
        raise ValueError(f"expects {name} on the device of q, {device}, but got {found}")
    tensor.strides = [1]
    return tensor


def _make_output(array: Any, name: str, shape: tuple[int, ...], dtype: str, device: tuple[str, int]) -> _native.Tensor:
    tensor = _frameworks.make_tensor(array, name, writable=True)
    found = _frameworks.get_dtype_name(tensor), _frameworks.get_device(tensor, name)
    if tuple(tensor.shape) != shape or found != (dtype, device):
        raise ValueError(
            f"expects {name} of shape {shape}, {dtype} on {device}, but got shape {tuple(tensor.shape)}, {found[0]} on {found[1]}"
        )
    if not _normalize_strides(tensor, name):
        raise ValueError(f"expects {name} in row-major order without gaps, but got strides of {tensor.strides} elements")
    return tensor


def _add_workspaces(kernel: _native.Kernel, tensors: list[_native.Tensor], framework: _frameworks.Framework, like: Any) -> list[Any]:
    """Puts memory that the kernel needs itself among its tensors, at their places. Gives who owns it."""
    workspaces = [pos for pos in range(kernel.num_arguments) if kernel.argument(pos).is_workspace]
    # What is there now stands for them, which is not read.
    for pos in workspaces:
        tensors.insert(pos, tensors[0])
    owners = []
    for pos in workspaces:
        argument = kernel.argument(pos)
        num_bytes = kernel.workspace_bytes(tensors, pos)
        owner = framework.zeros(like, num_bytes + argument.alignment)
        begin = -_frameworks.make_tensor(owner, argument.name, writable=True).address % argument.alignment
        tensors[pos] = _frameworks.make_tensor(owner[begin : begin + max(num_bytes, 1)], argument.name, writable=True)
        owners.append(owner)
    return owners


def attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool = False,
    window: tuple[int, int] | None = None,
    softcap: float | None = None,
    scale: float | None = None,
    alibi_slopes: Any = None,
    sinks: Any = None,
    return_lse: bool = False,
    layout: str = "bshd",
    out: Any = None,
    stream: int | None = None,
    chip: str | None = None,
) -> Any:
    """softmax(mask(scale * q kᵀ)) v, for arrays of NumPy, PyTorch and CuPy, where they are.

    q             [batch, seq_q, heads, head_dim], float16 or bfloat16 (of ml_dtypes in NumPy)
    k, v          [batch, seq_k, kv_heads, head_dim]; heads is a multiple of kv_heads; v may have another head_dim
    causal        the last query attends to all keys, each one before it to one less (as in FlashAttention)
    window        keys attended to before and after the diagonal, which ends at the last query and key; -1 is unbounded
    softcap       scores become softcap * tanh(score / softcap)
    scale         1/sqrt(head_dim) if not given
    alibi_slopes  [heads], float32: -slope * distance from the diagonal is added to scores
    sinks         [heads], float32: the logit of a further key, whose value is 0
    return_lse    returns the natural logarithm of the sum of exponentials, too: [batch, heads, seq_q], float32
    layout        order of dimensions: "bshd", or "bhsd" for [batch, heads, seq, head_dim]; also of the result
    out           array for the result: row-major without gaps, on the same device
    stream        handle of the stream of a GPU to queue on; by default the framework's current one
    chip          to compile for; by default what the device is, and for the CPU $ATTUNE_HOST_CHIP or one of `chips()`

    Any strides do, as long as that of the head dimension is 1 and the others keep 16-byte reads aligned; nothing is
    copied. A query that attends to no key has the result 0 and the LSE -inf. On the CPU the kernel of a chip is
    executed thread by thread and every access is checked: slow, and for small arrays.

    TypeError for types and ValueError for sizes, strides, devices and options that cannot be; CompileError where there
    is no kernel for the problem; RuntimeError where there is no driver, or a kernel fails.
    """
    window, softcap, scale = _check_options(window, softcap, scale, layout)
    tensors = {name: _frameworks.make_tensor(array, name) for name, array in zip("qkv", (q, k, v), strict=True)}
    dtype, place = _check_operands(tensors)
    sizes = _read_sizes(tensors, layout)
    dense = [_normalize_strides(tensor, name) for name, tensor in tensors.items()]
    inputs = list(tensors.values())
    for name, array in (("alibi_slopes", alibi_slopes), ("sinks", sinks)):
        if array is not None:
            inputs.append(_make_per_head(array, name, sizes.heads, place))
    problem = Problem(
        dtype=dtype,
        heads=sizes.heads,
        kv_heads=sizes.kv_heads,
        head_dim=sizes.head_dim,
        head_dim_v=sizes.head_dim_v,
        layout=layout,
        causal=bool(causal),
        window=window,
        softcap=softcap,
        scale=scale,
        has_alibi=alibi_slopes is not None,
        has_sinks=sinks is not None,
        return_lse=bool(return_lse),
        strided=not all(dense),
    )

    framework = _frameworks.find_framework(q)
    extents = {"b": sizes.batch, "h": sizes.heads, "s": sizes.seq_q, "d": sizes.head_dim_v}
    shape = tuple(extents[letter] for letter in layout)
    if out is None:
        out = framework.empty(q, shape, dtype)
    outputs = [_make_output(out, "out", shape, dtype, place)]
    lse = None
    if return_lse:
        lse = framework.empty(q, (sizes.batch, sizes.heads, sizes.seq_q), "float32")
        outputs.append(_make_output(lse, "lse", (sizes.batch, sizes.heads, sizes.seq_q), "float32", place))
    if sizes.batch and sizes.seq_q:
        device = get_device(*place, chip)
        kernel = device.get_kernel(problem)
        arguments = [*inputs, *outputs]
        owners = _add_workspaces(kernel, arguments, framework, q)
        device.launch(kernel, arguments, framework.get_stream(q) if stream is None else stream)
        del owners  # queued: frameworks reuse memory in the order of the stream
    return (out, lse) if return_lse else out
