# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays that record what NumPy's functions do with them, and compute it when it is used.

    import attune_mlir.numpy as anp

    q, k, v = (anp.asarray(x) for x in (q, k, v))
    scores = q @ k.swapaxes(-1, -2) / 8
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    out = np.asarray(weights / weights.sum(axis=-1, keepdims=True) @ v)

What was recorded becomes linalg on tensors. On the CPU it is compiled as a whole, elementwise code fused; attention is
recognized (docs/Raising.md), and is one kernel on a GPU, or with `evaluate(chip=...)`. What cannot be compiled is computed
by NumPy, which a FallbackWarning says once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

import numpy as np

from . import _linalg
from ._linalg import Node
from ._recorded import FallbackWarning, run, warn

__all__ = ["Array", "FallbackWarning", "asarray", "evaluate"]

_Shape = tuple[int, ...]


def asarray(array: Any) -> Array:
    """An array that records. What is in `array` now is what counts: of NumPy, a copy is taken.

    Arrays of float16, float32, float64, bool, int32 and int64 are recorded, of NumPy or of another framework with
    NumPy's shapes and types, as CuPy's. TypeError for others.
    """
    if isinstance(array, Array):
        return array
    if not (hasattr(array, "dtype") and hasattr(array, "shape")):
        array = np.asarray(array)
    elif isinstance(array, (np.ndarray, np.generic)):
        array = _freeze(np.array(array, dtype=array.dtype.newbyteorder("=")))
    dtype = np.dtype(array.dtype).name
    if dtype not in _linalg.TYPES:
        raise TypeError(f"expects an array of {', '.join(_linalg.TYPES)}, but got {dtype}")
    return Array(Node("leaf", tuple(array.shape), dtype, array=array))


def evaluate(array: Array, *, chip: str | None = None) -> Any:
    """The array that recorded code computes, of NumPy or of the framework of its arrays.

    With `chip`, attention is a kernel for it, which the host executor runs for arrays on the CPU.
    """
    if not isinstance(array, Array):
        raise TypeError(f"expects an array of attune_mlir.numpy, but got {type(array).__name__}")
    found = array._evaluate(chip)
    return found.copy() if isinstance(found, np.ndarray) else found  # which the caller may write


def _freeze(array: Any) -> Any:
    """Keeps NumPy from writing what recorded code reads."""
    if isinstance(array, np.ndarray):
        array.setflags(write=False)
    return array


def _is_scalar(value: object) -> bool:
    return isinstance(value, (bool, int, float)) and not isinstance(value, np.generic)


def _record(what: str, why: str | None, function: Callable[..., Any], arguments: Any, options: Any) -> Any:
    """Has NumPy compute a function of arrays that were recorded."""
    if why is not None:
        warn(f"NumPy computes {what}", why)

    def use(value: Any) -> Any:
        if isinstance(value, Array):
            return value._evaluate(None)
        if isinstance(value, (tuple, list)):
            return type(value)(use(one) for one in value)
        return value

    found = function(*use(tuple(arguments)), **{name: use(value) for name, value in options.items()})
    return asarray(found) if isinstance(found, np.ndarray) and found.dtype.name in _linalg.TYPES else found


def _apply_ufunc(ufunc: np.ufunc, inputs: Sequence[Any]) -> Array | str:
    """The recorded result, or why there is none."""
    name = ufunc.__name__
    if ufunc is np.matmul:
        return _matmul(*(asarray(one) for one in inputs))
    if ufunc.nout != 1:
        return "it has several results"
    operands = [one if _is_scalar(one) else asarray(one) for one in inputs]
    if name == "square":
        return _apply_ufunc(np.multiply, [operands[0]] * 2)
    if name == "reciprocal" and "float" in operands[0].dtype.name:
        return _apply_ufunc(np.divide, [1, operands[0]])
    if name in ("invert", "logical_not") and operands[0].dtype == bool:
        return _elementwise("logical_xor", "bool", [operands[0], True], "bool")
    kinds = [type(one) if _is_scalar(one) else np.dtype(one.dtype) for one in operands]
    try:
        *computed, result = ufunc.resolve_dtypes((*kinds, None))
    except TypeError as error:
        return str(error)
    dtype = computed[0].name
    if any(one.name != dtype for one in computed) or not _linalg.can_compute(name, dtype) or result.name not in _linalg.TYPES:
        return f"there is no code for it on {dtype}"
    return _elementwise(name, dtype, operands, result.name)


def _elementwise(name: str, dtype: str, operands: Sequence[Any], result: str) -> Array:
    shape = np.broadcast_shapes(*(one.shape for one in operands if isinstance(one, Array)))
    literals = tuple(None if isinstance(one, Array) else one for one in operands)
    nodes = tuple(one._node for one in operands if isinstance(one, Array))
    return Array(Node("elementwise", shape, result, nodes, (name, dtype, literals)))


def _matmul(left: Array, right: Array) -> Array | str:
    if not left.ndim or not right.ndim:
        raise ValueError("expects operands of matmul with at least one dimension")
    if left.ndim == 1 or right.ndim == 1:
        one = left.reshape(1, -1) if left.ndim == 1 else left
        other = right.reshape(-1, 1) if right.ndim == 1 else right
        found = _matmul(one, other)
        if isinstance(found, str):
            return found
        kept = found.shape[:-2] + (() if left.ndim == 1 else found.shape[-2:-1]) + (() if right.ndim == 1 else found.shape[-1:])
        return found.reshape(kept)
    if left.shape[-1] != right.shape[-2]:
        raise ValueError(f"expects operands of matmul that share a dimension, but got shapes {left.shape} and {right.shape}")
    dtype = np.result_type(left.dtype, right.dtype).name
    if "float" not in dtype:
        return f"there is no code for it on {dtype}"
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    nodes, places = [], []
    for one in (left, right):
        first = len(batch) - (one.ndim - 2)
        dims = tuple(first + dim for dim, size in enumerate(one.shape[:-2]) if size == batch[first + dim])
        nodes.append(one.reshape(*(batch[dim] for dim in dims), *one.shape[-2:]).astype(dtype)._node)
        places.append(dims)
    return Array(Node("matmul", (*batch, left.shape[-2], right.shape[-1]), dtype, tuple(nodes), tuple(places)))


def _get_dims(axis: Any, ndim: int) -> _Shape:
    dims = range(ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    found = tuple(sorted(int(dim) + ndim if dim < 0 else int(dim) for dim in dims))
    if len(set(found)) != len(found) or any(not 0 <= dim < ndim for dim in found):
        raise np.exceptions.AxisError(f"expects different axes of an array of {ndim} dimensions, but got {axis}")
    return found


def _reduce(kind: str, array: Any, axis: Any = None, keepdims: bool = False) -> Array | str:
    """Recorded, or why it is not."""
    array = asarray(array)
    if "float" not in array.dtype.name:
        return f"there is no code for it on {array.dtype.name}"
    dims = _get_dims(axis, array.ndim)
    count = math.prod(array.shape[dim] for dim in dims)
    if not count and kind in ("max", "min"):
        raise ValueError(f"expects at least one element for {kind}")
    shape = tuple(size for dim, size in enumerate(array.shape) if dim not in dims)
    # As NumPy, means of float16 are of sums that are not rounded to it.
    read = array.astype(np.float32) if kind == "mean" and array.dtype == np.float16 else array
    options = ("sum" if kind == "mean" else kind, dims)
    found = Array(Node("reduce", shape, read.dtype.name, (read._node,), options)) if dims else read
    if kind == "mean":
        found = (found / (count or math.nan)).astype(array.dtype)
    return found.reshape(tuple(1 if dim in dims else size for dim, size in enumerate(array.shape))) if keepdims else found


def _where(condition: Any, a: Any, b: Any) -> Array | str:
    condition = asarray(condition)
    operands = [one if _is_scalar(one) else asarray(one) for one in (a, b)]
    dtype = np.result_type(*(one if _is_scalar(one) else one.dtype for one in operands)).name
    if condition.dtype.name != "bool" or dtype not in _linalg.TYPES:
        return f"there is no code for it on {condition.dtype.name} and {dtype}"
    return _elementwise("where", dtype, [condition, *operands], dtype)


def _transpose(array: Any, axes: Any = None) -> Array:
    array = asarray(array)
    order = tuple(range(array.ndim))[::-1]
    if axes is not None:
        order = tuple(dim for axis in (axes if isinstance(axes, (tuple, list)) else (axes,)) for dim in _get_dims(axis, array.ndim))
    if sorted(order) != list(range(array.ndim)):
        raise ValueError(f"expects axes that are a permutation of {array.ndim} dimensions, but got {axes}")
    shape = tuple(array.shape[dim] for dim in order)
    is_same = order == tuple(range(array.ndim))
    return array if is_same else Array(Node("transpose", shape, array.dtype.name, (array._node,), order))


def _swapaxes(array: Any, axis1: int, axis2: int) -> Array:
    array = asarray(array)
    order = list(range(array.ndim))
    (first,), (second,) = _get_dims(axis1, array.ndim), _get_dims(axis2, array.ndim)
    order[first], order[second] = order[second], order[first]
    return _transpose(array, order)


def _reshape(array: Any, shape: Any) -> Array:
    array = asarray(array)
    sizes = [int(size) for size in (shape if isinstance(shape, (tuple, list)) else (shape,))]
    if sizes.count(-1) == 1:
        rest = -math.prod(sizes)
        sizes[sizes.index(-1)] = array.size // rest if rest else 0
    if math.prod(sizes) != array.size or any(size < 0 for size in sizes):
        raise ValueError(f"expects a shape of {array.size} elements, but got {shape}")
    return array if tuple(sizes) == array.shape else Array(Node("reshape", tuple(sizes), array.dtype.name, (array._node,)))


def _expand_dims(array: Any, axis: Any) -> Array:
    array = asarray(array)
    ndim = array.ndim + (len(axis) if isinstance(axis, (tuple, list)) else 1)
    dims = _get_dims(axis, ndim)
    sizes = iter(array.shape)
    return _reshape(array, tuple(1 if dim in dims else next(sizes) for dim in range(ndim)))


#: NumPy's functions that are recorded, with the arguments that these take. TypeError is of other arguments.
_FUNCTIONS: dict[Any, Callable[..., Array | str]] = {
    np.sum: lambda a, axis=None, *, keepdims=False: _reduce("sum", a, axis, keepdims),
    np.max: lambda a, axis=None, *, keepdims=False: _reduce("max", a, axis, keepdims),
    np.min: lambda a, axis=None, *, keepdims=False: _reduce("min", a, axis, keepdims),
    np.mean: lambda a, axis=None, *, keepdims=False: _reduce("mean", a, axis, keepdims),
    np.where: _where,
    np.transpose: _transpose,
    np.swapaxes: _swapaxes,
    np.reshape: _reshape,
    np.expand_dims: _expand_dims,
}


class Array(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of which the elements are computed when they are used: np.asarray(array), float(), printing, indexing.

    Operators and NumPy's functions record; shapes and types are those of NumPy, and wrong ones raise at once.
    """

    def __init__(self, node: Node) -> None:
        self._node = node

    @property
    def shape(self) -> _Shape:
        """Sizes of the dimensions."""
        return self._node.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements."""
        return np.dtype(self._node.dtype)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def T(self) -> Array:  # noqa: N802
        """With its dimensions in reverse."""
        return _transpose(self)

    def _evaluate(self, chip: str | None) -> Any:
        if self._node.kind != "leaf":
            # What is known is not computed again, whoever asks.
            self._node = Node("leaf", self.shape, self._node.dtype, array=_freeze(run(self._node, chip)))
        return self._node.array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        found = np.asarray(self._evaluate(None))
        # The elements stay as they were recorded, whatever is done with the result.
        return found.astype(dtype or self.dtype, copy=True)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        found: Array | str = f"{method}() is not recorded" if method != "__call__" else f"{', '.join(options)} is not recorded"
        if method == "__call__" and not options:
            try:
                found = _apply_ufunc(ufunc, inputs)
            except TypeError as error:
                found = str(error)
        if isinstance(found, Array):
            return found
        # Other code may read what an array that is to be written was: it becomes another one.
        targets = options.pop("out", ())
        written = tuple(np.array(one) if isinstance(one, Array) else one for one in targets)
        results = _record(f"np.{ufunc.__name__}", found, getattr(ufunc, method), inputs, options | ({"out": written} if targets else {}))
        for target, result in zip(targets, written, strict=True):
            if isinstance(target, Array):
                target._node = asarray(result)._node
        return targets[0] if len(targets) == 1 else targets or results

    def __array_function__(self, function: Callable[..., Any], types: Any, arguments: Any, options: Any) -> Any:
        found: Array | str = "it is not recorded"
        if function in _FUNCTIONS:
            try:
                found = _FUNCTIONS[function](*arguments, **options)
            except TypeError as error:
                found = f"it is not recorded with these arguments ({error})"
        if isinstance(found, Array):
            return found
        return _record(f"np.{function.__name__}", found, function, arguments, options)

    def sum(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """np.sum"""
        return np.sum(self, axis, keepdims=keepdims)

    def max(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """np.max"""
        return np.max(self, axis, keepdims=keepdims)

    def min(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """np.min"""
        return np.min(self, axis, keepdims=keepdims)

    def mean(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """np.mean"""
        return np.mean(self, axis, keepdims=keepdims)

    def reshape(self, *shape: Any) -> Array:
        """np.reshape"""
        return _reshape(self, shape[0] if len(shape) == 1 else shape)

    def transpose(self, *axes: Any) -> Array:
        """np.transpose"""
        return _transpose(self, (axes[0] if len(axes) == 1 else axes) if axes and axes[0] is not None else None)

    def swapaxes(self, axis1: int, axis2: int) -> Array:
        """np.swapaxes"""
        return _swapaxes(self, axis1, axis2)

    def astype(self, dtype: Any) -> Array:
        """As another type, which floats become no integers of."""
        name = np.dtype(dtype).name
        if name == self._node.dtype:
            return self
        if name not in _linalg.TYPES or (name.startswith("int") and "float" in self._node.dtype):
            warn(f"NumPy computes astype({name})", "there is no code for it")
            return asarray(np.asarray(self).astype(name))
        return Array(Node("cast", self.shape, name, (self._node,)))

    def item(self) -> Any:
        """The only element, as Python has it."""
        return np.asarray(self).item()

    def __getitem__(self, index: Any) -> Any:
        index = index if isinstance(index, tuple) else (index,)
        if all(one is None or one is Ellipsis or (isinstance(one, slice) and one == slice(None)) for one in index) and index.count(...) < 2:
            rest = self.ndim - sum(one is not None and one is not Ellipsis for one in index)
            whole = [slice(None)] * rest
            at = index.index(...) if ... in index else len(index)
            places = [*index[:at], *whole, *index[at + 1 :]]
            return _expand_dims(self, tuple(dim for dim, one in enumerate(places) if one is None)) if None in places else self
        return _record("indexing", "it is not recorded", lambda array: array[index], [self], {})

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("expects an array of at least one dimension for len()")
        return self.shape[0]

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> SupportsIndex:
        return self.item().__index__()  # type: ignore[no-any-return]

    def __bool__(self) -> bool:
        return bool(self.item())

    def __repr__(self) -> str:
        return f"attune_mlir.numpy.asarray({np.asarray(self)!r})"
