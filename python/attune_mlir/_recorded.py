# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs recorded array code: on the CPU as machine code, or as the kernel of attention that it is."""

from __future__ import annotations

import functools
import re
import threading
import warnings
from typing import Any

import numpy as np

from . import _compiler, _devices, _frameworks, _native, _operands
from ._linalg import LOWERING, Node, Writer, sort


class FallbackWarning(UserWarning):
    """Recorded array code does not run where it was to: NumPy computes what cannot be compiled."""


_said: set[str] = set()
_lock = threading.Lock()


def warn(what: str, why: str) -> None:
    """Says `what` and why; each `what` once."""
    with _lock:
        is_known = what in _said
        _said.add(what)
    if not is_known:
        warnings.warn(f"{what}, for {why}", FallbackWarning, stacklevel=4)


@functools.lru_cache(maxsize=256)
def _compile_for_host(text: str) -> _native.HostCode:
    """CompileError where the pipeline fails."""
    lowered = _compiler.run_pipeline(text, LOWERING)
    code, said = lowered._native.compile_for_host("recorded")
    if code is None:
        raise _compiler.CompileError(_compiler.parse_diagnostics(said))
    return code


def _get_memref(array: np.ndarray[Any, Any]) -> tuple[int, list[int], list[int]]:
    return array.ctypes.data, list(array.shape), _operands.get_row_major(list(array.shape))


def _run_on_host(root: Node, text: str, leaves: list[Node]) -> Any:
    code = _compile_for_host(text)
    arrays = [np.ascontiguousarray(leaf.array).reshape(leaf.shape) for leaf in leaves]
    result = np.empty(root.shape, dtype=root.dtype)
    code.call([_get_memref(array) for array in [*arrays, result]])
    return result


class _Raised:
    """A module that is one attention of its arguments, or `operands` is None."""

    def __init__(self, text: str) -> None:
        self.module = _compiler.run_pipeline(text, "builtin.module(func.func(convert-linalg-to-attn),canonicalize)")
        printed = str(self.module)
        #: For query, key and value the number of the argument, and the shape that it has there; then the result's shape.
        self.operands: list[tuple[int, list[int]]] | None = None
        self.shape: list[int] = []
        numbers = {f"%arg{number}": number for number in range(len(re.findall(r"%arg\d+: tensor", printed)))}
        # Values that are arguments of another shape.
        for name, source in re.findall(r"(%\w+) = tensor\.(?:expand|collapse)_shape (%\w+) ", printed):
            if source in numbers:
                numbers[name] = numbers[source]
        found = re.findall(r"= attn\.attention (%\w+), (%\w+), (%\w+)(.*)", printed)
        types = re.findall(r": (tensor<\S+>, tensor<\S+>, tensor<\S+>)$", printed, re.M)
        if len(found) != 1 or len(types) != 1 or "linalg." in printed or any(name not in numbers for name in found[0][:3]):
            return
        shapes = [[int(size) for size in sizes.split("x")[:-1]] for sizes in re.findall(r"tensor<([^,>]*)", types[0])]
        self.operands = [(numbers[name], shape) for name, shape in zip(found[0][:3], shapes, strict=True)]
        order = re.search(r"order\((\w+)\)", found[0][3])
        width = (order[1] if order else "bhsd").index("d")
        self.shape = [shapes[2][dim] if dim == width else size for dim, size in enumerate(shapes[0])]


@functools.lru_cache(maxsize=256)
def _raise(text: str) -> _Raised:
    return _Raised(text)


def _shape_as(array: Any, shape: list[int], name: str, *, writable: bool = False) -> _native.Tensor:
    """The tensor of an array as a kernel takes it."""
    view = array.reshape(shape)
    is_bool = np.dtype(array.dtype) == bool
    tensor = _frameworks.make_tensor(view.view("uint8") if is_bool else view, name, writable=writable)
    if is_bool:
        tensor.dtype = _native.DataType.I1
    if not _operands.normalize_strides(tensor, name):
        raise ValueError(f"expects {name} without gaps, but got strides of {tensor.strides} elements; copy it")
    return tensor


class _NotAttentionError(Exception):
    """What keeps recorded code from being one kernel."""


def _run_as_kernel(root: Node, text: str, leaves: list[Node], chip: str | None) -> Any:
    """As one kernel of attention, on the device of the arrays."""
    raised = _raise(text)
    if raised.operands is None:
        raise _NotAttentionError("it is no attention of its arrays and nothing else")
    arrays = [leaf.array for leaf in leaves]
    place = _frameworks.get_device(_frameworks.make_tensor(arrays[0], "an array"), "an array")
    device = _devices.get_device(*place, chip)
    kernel = device.get_module_kernel(raised.module)
    framework = _frameworks.find_framework(arrays[0])
    result = framework.empty(arrays[0], root.shape, root.dtype)
    operands = dict(zip(("query", "key", "value"), raised.operands, strict=True))
    tensors = []
    for pos in range(kernel.num_arguments):
        argument = kernel.argument(pos)
        if argument.name in operands:
            number, shape = operands[argument.name]
            tensors.append(_shape_as(arrays[number], shape, f"array {number}"))
        elif argument.name.startswith("argument"):
            number = int(argument.name.removeprefix("argument"))
            tensors.append(_shape_as(arrays[number], list(leaves[number].shape), f"array {number}"))
        elif argument.name == "output":
            tensors.append(_shape_as(result, raised.shape, "the result", writable=True))
        elif not argument.is_workspace:
            raise _NotAttentionError(f"its kernel has an argument '{argument.name}'")
    _devices.run(device, kernel, tensors, arrays[0], None)
    return result


def _interpret(root: Node) -> Any:
    """What NumPy makes of it, one function after the other."""
    values: dict[int, Any] = {}
    for node in sort(root):
        inputs = [values[id(one)] for one in node.inputs]
        values[id(node)] = _apply(node, inputs)
    return values[id(root)]


def _apply(node: Node, inputs: list[Any]) -> Any:
    if node.kind == "leaf":
        return node.array
    if node.kind == "elementwise":
        name, _, literals = node.options
        given = iter(inputs)
        return getattr(np, name)(*(next(given) if literal is None else literal for literal in literals))
    if node.kind == "matmul":
        # Dimensions that are broadcast were dropped.
        padded = [
            one.reshape([size if dim in dims else 1 for dim, size in enumerate(node.shape[:-2])] + list(one.shape[-2:]))
            for one, dims in zip(inputs, node.options, strict=True)
        ]
        return np.matmul(*padded)
    (array,) = inputs
    if node.kind == "cast":
        return array.astype(node.dtype)
    if node.kind == "transpose":
        return np.transpose(array, node.options)
    if node.kind == "reshape":
        return array.reshape(node.shape)
    kind, dims = node.options
    return getattr(np, kind)(array, axis=dims)


def run(root: Node, chip: str | None) -> Any:
    """The array that recorded code computes. `chip` asks for a kernel, which the host executor runs on arrays of the CPU."""
    if chip is not None:
        _devices.check_chip(chip, "chip")
    if root.kind == "leaf":
        return root.array
    text, leaves = Writer().write(root)
    is_host = all(isinstance(leaf.array, np.ndarray) for leaf in leaves)
    if chip is not None or not is_host:
        try:
            return _run_as_kernel(root, text, leaves, chip)
        except (_NotAttentionError, _compiler.CompileError, NotImplementedError) as error:
            place = "attune_mlir runs recorded code on the CPU" if is_host else "NumPy computes recorded code"
            warn(place, f"there is no kernel of it: {error}")
    # An array without elements has no address.
    if is_host and all(0 not in one.shape for one in [root, *leaves]):
        try:
            return _run_on_host(root, text, leaves)
        except _compiler.CompileError as error:
            warn("NumPy computes recorded code", f"it cannot be compiled for the CPU: {error}")
    return _interpret(root)
