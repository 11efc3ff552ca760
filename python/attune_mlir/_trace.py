# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From functions that modify or mask scores to regions of attn.attention.

A function is run once by make_fx, on scalars, as FlexAttention does it; what it did becomes the region. Tensors of
its closure become operands, numbers constants. What a function did is kept under its code and what it can reach, so
that the next call with an equal one, and other tensors of the same shapes, traces nothing.
"""

from __future__ import annotations

import dataclasses
import functools
import linecache
import os
import sys
import threading
import types
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

import torch
from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode

from . import _masks, _operations
from ._regions import ELEMENT_TYPES, Array, CannotTraceError, Capture, Scalar, Writer, join_for, make_literal

_SCORE_NAMES = ("score", "b", "h", "q", "kv")
_FOLDERS = (os.path.dirname(torch.__file__) + os.sep, os.path.dirname(os.path.abspath(__file__)) + os.sep)
#: Traces that are kept; the oldest go first.
_MAX_KEPT = 256


@dataclasses.dataclass(frozen=True)
class Traced:
    """Regions as text, and the tensors that they read, in the order of operands."""

    clauses: str
    captures: tuple[Capture, ...]
    #: Whether what was computed is detached, which regions do not tell.
    detaches: bool = False

    def identify(self, device: torch.device) -> Identity:
        """What regions are told apart by whose functions are not known."""
        return Identity((device, self.clauses), [capture.tensor for capture in self.captures])

    def bind(self, tensors: Sequence[torch.Tensor]) -> Traced:
        """The same that reads these tensors."""
        captures = tuple(Capture(tensor, c.name, c.reads) for c, tensor in zip(self.captures, tensors, strict=True))
        return Traced(self.clauses, captures, self.detaches)


def _is_ours(file: str) -> bool:
    return not file.startswith(_FOLDERS) and not file.startswith("<")


class _Recorder(TorchDispatchMode):  # type: ignore[misc]
    """Refuses at once what cannot be traced, and notes the line of everything else."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what
        #: Operations and their places, in the order of the graph.
        self.places: list[tuple[str, str]] = []

    def __torch_dispatch__(self, function: Any, kinds: Any, arguments: Any = (), options: Any = None) -> Any:
        frame: types.FrameType | None = sys._getframe()
        while frame and not _is_ours(frame.f_code.co_filename):
            frame = frame.f_back
        place = ""
        if frame is not None:
            file, line = frame.f_code.co_filename, frame.f_lineno
            place = f", at {file}:{line}: {linecache.getline(file, line).strip()}"
        name = str(function)
        if name.startswith("aten._local_scalar_dense"):
            raise NotImplementedError(
                f"expects {self.what} to need no value of a tensor in Python, as `if`, int() and item() do{place}; "
                "use torch.where and & | ~"
            )
        if not _operations.is_known(_get_packet(name)):
            raise NotImplementedError(f"expects {self.what} to have operations on numbers, but got {name}{place}")
        self.places.append((name, place))
        return function(*arguments, **(options or {}))


def _get_packet(overload: str) -> str:
    return ".".join(overload.split(".")[:2])


def _run(
    function: Callable[..., Any], what: str, device: torch.device
) -> tuple[torch.fx.GraphModule, dict[torch.fx.Node, str], set[torch.fx.Node]]:
    """The graph of what a function does with scalars, where each node is in the source, and which ones detach."""
    arguments = [torch.zeros((), dtype=torch.int32, device=device) for _ in range(4)]
    if what == "score_mod":
        arguments.insert(0, torch.zeros((), dtype=torch.float32, device=device))
    recorder = _Recorder(what)

    def call(*scalars: torch.Tensor) -> Any:
        with recorder:
            return function(*scalars)

    with torch.no_grad(), TransformGetItemToIndex():
        graph = make_fx(call)(*arguments)
    places, detaching, rest = {}, set(), iter(recorder.places)
    for node in graph.graph.nodes:
        if node.op != "call_function":
            continue
        target = str(node.target)
        # In the graph, what detaches is an alias.
        names = (target, "aten.detach.default") if target == "aten.alias.default" else (target,)
        found, places[node] = next(((name, place) for name, place in rest if name in names), ("", ""))
        if found == "aten.detach.default":
            detaching.add(node)
    return graph, places, detaching


class _Translator:
    """Writes the region of one graph."""

    def __init__(self, function: Callable[..., Any], what: str, device: torch.device, writer: Writer, captures: list[Capture]) -> None:
        self.graph, self.places, self.detaching = _run(function, what, device)
        self.what = what
        self.writer = writer
        self.captures = captures
        #: Whether it detaches what it has computed.
        self.detaches = False
        self.values: dict[torch.fx.Node, Any] = {}

    def translate(self) -> Scalar:
        """The value of the region."""
        names = list(_SCORE_NAMES[-4:] if self.what == "mask_mod" else _SCORE_NAMES)
        for node in self.graph.graph.nodes:
            if node.op == "placeholder":
                self.values[node] = self._make_argument(names.pop(0))
            elif node.op == "get_attr":
                self.values[node] = self._capture(getattr(self.graph, str(node.target)))
            elif node.op == "call_function":
                self._call(node)
            else:
                (result,) = node.args
                return self._finish(result)
        raise AssertionError("expects a graph to have a result")

    def _make_argument(self, name: str) -> Array:
        known = {"score": "f32"}.get(name, "index")
        dtype = torch.float32 if name == "score" else torch.int32
        scalar = Scalar(f"%{self.what[0]}_{name}", known, is_natural=name != "score", argument="" if name == "score" else name)
        return Array((), dtype, lambda _: scalar)

    def _capture(self, tensor: torch.Tensor, source: torch.Tensor | None = None) -> Any:
        """`source` is what a function detaches it from."""
        if tensor.dtype not in ELEMENT_TYPES:
            raise NotImplementedError(
                f"expects tensors that {self.what} reads of bool, integers or floats to 32 bits, but got {tensor.dtype}"
            )
        if not tensor.numel():
            raise ValueError(f"expects tensors that {self.what} reads to have elements, but got shape {tuple(tensor.shape)}")

        def find() -> Capture:
            """When it is first read, so that operands are in the order of reading."""
            for capture in self.captures:
                if capture.tensor is tensor or (source is not None and capture.source is source):
                    return capture
            self.captures.append(Capture(tensor, f"%capture{len(self.captures)}", source=source))
            return self.captures[-1]

        return Array(tuple(tensor.shape), tensor.dtype, lambda place: self.writer.read(find(), place))

    def _call(self, node: torch.fx.Node) -> None:
        overload = str(node.target)
        name = _get_packet(overload)
        out = node.meta["val"]
        if out.dtype not in ELEMENT_TYPES:
            raise NotImplementedError(
                f"expects {self.what} to compute with bool, integers and floats to 32 bits, but got {out.dtype} of {overload}"
                f"{self.places[node]}"
            )
        shape = Array(tuple(out.shape), out.dtype, lambda _: make_literal(0))
        if name == "aten.lift_fresh_copy" and node.args[0].op == "get_attr" and not out.dim():  # a number in the function
            value = make_literal(getattr(self.graph, str(node.args[0].target)).item())
            self.values[node] = Array((), out.dtype, lambda _: value)
            return
        if node in self.detaching and node.args[0].op == "get_attr":  # read apart from where it has gradients
            source = getattr(self.graph, str(node.args[0].target))
            self.values[node] = self._capture(source.detach(), source)
            return
        self.detaches |= node in self.detaching and out.dtype.is_floating_point
        arguments = torch.fx.node.map_arg(node.args, self._get)
        options = torch.fx.node.map_arg(node.kwargs, self._get)
        with self._at(node, overload):
            array = _operations.apply(self.writer, name, shape, list(arguments), dict(options))
        get = array.get

        def find(place: Any) -> Scalar:
            with self._at(node, overload):
                return get(place)

        self.values[node] = dataclasses.replace(array, get=find)

    def _get(self, node: torch.fx.Node) -> Any:
        return self.values[node]

    def _at(self, node: torch.fx.Node, overload: str) -> _Place:
        return _Place(f"in {overload}{self.places[node]}")

    def _finish(self, result: Any) -> Scalar:
        dtype = torch.float32 if self.what == "score_mod" else torch.bool
        if isinstance(result, torch.fx.Node):
            result = self.values[result]
            if result.shape and any(size != 1 for size in result.shape):
                raise ValueError(f"expects {self.what} to return one number, but got shape {result.shape}")
            value = result.element()
        elif isinstance(result, (bool, int, float)):
            value = make_literal(result)
        else:
            raise TypeError(f"expects {self.what} to return a tensor, but got {type(result).__qualname__}")
        return self.writer.cast(value, join_for(dtype, ()))


class _Place:
    """Adds to an error where it comes from."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, CannotTraceError):
            raise NotImplementedError(f"{error}, {self.text}") from None


def translate(score_mod: Any, mask_mod: Any, device: torch.device, known: Sequence[Capture] = ()) -> Traced:
    """The regions of functions, which are traced whether or not equal ones were. `known` are the first tensors that they read."""
    captures = list(known)
    clauses, detaches = [], False
    for what, function in (("score_mod", score_mod), ("mask_mod", mask_mod)):
        if function is None:
            continue
        writer = Writer(what[0], captures)
        translator = _Translator(function, what, device, writer, captures)
        value = translator.translate()
        detaches |= translator.detaches
        names = _SCORE_NAMES[-4:] if what == "mask_mod" else _SCORE_NAMES
        lines = "".join(f"      {line}\n" for line in writer.lines)
        arguments = ", ".join(f"%{what[0]}_{name}" for name in names)
        clauses.append(f"    {what[:-4]} ({arguments}) {{\n{lines}      attn.yield {value.name} : {value.type}\n    }}\n")
    return Traced("".join(clauses), tuple(captures), detaches)


class _UnknownError(Exception):
    """Something of which is not known whether it can change."""


#: Modules whose contents do not change.
_FIXED_MODULES = sys.stdlib_module_names | {"torch"}
_NUMBERS = frozenset((bool, int, float, str, bytes, type(None), torch.dtype, torch.device, torch.Size))


def _is_fixed(module: str | None) -> bool:
    return (module or "").partition(".")[0] in _FIXED_MODULES


def _fingerprint_module(value: types.ModuleType, tensors: list[torch.Tensor], seen: dict[int, int], names: frozenset[str]) -> Hashable:
    if _is_fixed(value.__name__):
        return (value,)
    read = {name: one for name, one in vars(value).items() if name in names}
    # What modules in it have could be what is read.
    if "__getattr__" in vars(value) or any(isinstance(one, types.ModuleType) and not _is_fixed(one.__name__) for one in read.values()):
        raise _UnknownError
    return (value, tuple((name, _fingerprint(read[name], tensors, seen, names)) for name in sorted(read)))


def _fingerprint_function(value: types.FunctionType, tensors: list[torch.Tensor], seen: dict[int, int]) -> Hashable:
    cells, code, scope = value.__closure__ or (), value.__code__, value.__globals__
    if not cells and (value.__module__ or "").partition(".")[0] == "torch":
        return (value,)
    names, ordered = _get_names(code)
    # A loop of its own, for most calls with functions that were called before come here.
    parts: list[Hashable] = [code]
    for cell in cells:
        parts.append(_fingerprint(cell.cell_contents, tensors, seen, names))
    for options in (value.__defaults__, value.__kwdefaults__, value.__dict__ or None):
        parts.append(None if options is None else _fingerprint(options, tensors, seen, names))
    for name in ordered:
        if name in scope:
            parts.append(name)
            parts.append(_fingerprint(scope[name], tensors, seen, names))
    return tuple(parts)


def _fingerprint(value: Any, tensors: list[torch.Tensor], seen: dict[int, int], names: frozenset[str] = frozenset()) -> Hashable:
    """All that tracing can depend on. Tensors are counted by their kind; they are operands. `names` are those that the code has."""
    kind = type(value)
    if kind in _NUMBERS or isinstance(value, (bool, int, float, str, bytes, torch.Size)):
        return (kind, value)
    if isinstance(value, types.ModuleType):
        return _fingerprint_module(value, tensors, seen, names)
    if id(value) in seen:
        return ("again", seen[id(value)])
    seen[id(value)] = len(seen)
    if kind is torch.Tensor or kind is torch.nn.Parameter:
        tensors.append(value)
        return ("tensor", value.dtype, value.device, value.shape, value.stride())
    if isinstance(value, types.FunctionType):
        return _fingerprint_function(value, tensors, seen)
    inner = functools.partial(_fingerprint, tensors=tensors, seen=seen, names=names)
    if isinstance(value, (tuple, list)):
        return (kind, tuple(inner(one) for one in value))
    if isinstance(value, dict):
        return (dict, tuple((inner(key), inner(one)) for key, one in value.items()))
    if isinstance(value, functools.partial):
        return (functools.partial, inner(value.func), inner(value.args), inner(value.keywords))
    if isinstance(value, types.BuiltinFunctionType) and isinstance(value.__self__, (types.ModuleType, type, type(None))):
        return (value,)
    if isinstance(value, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)) or (isinstance(value, type) and _is_fixed(value.__module__)):
        return (value,)
    raise _UnknownError


@functools.lru_cache(maxsize=1024)
def _get_names(code: types.CodeType) -> tuple[frozenset[str], tuple[str, ...]]:
    """Names that code reads, also of functions in it, and the same in order."""
    names = frozenset(_walk_names(code))
    return names, tuple(sorted(names))


def _walk_names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _walk_names(constant)


#: What stands for functions with equal fingerprints, by these: keys that have it are compared at once.
_keys: dict[Hashable, object] = {}
#: Regions by that and what lists of blocks are like, and for each captured tensor its number among those of the fingerprint.
_kept: dict[Hashable, tuple[Traced, tuple[int, ...]]] = {}
_kept_lock = threading.Lock()


@dataclasses.dataclass
class Identity:
    """What functions are told apart by; `key` is None of those of which is not known whether they change."""

    key: Hashable
    #: That they can reach.
    tensors: list[torch.Tensor]


def identify(score_mod: Callable[..., Any] | None, mask_mod: Callable[..., Any] | None, device: torch.device) -> Identity:
    """Functions with equal keys have the same regions, with their own tensors."""
    tensors: list[torch.Tensor] = []
    seen: dict[int, int] = {}
    try:
        fingerprint = (device, _fingerprint(score_mod, tensors, seen), _fingerprint(mask_mod, tensors, seen))
        key = _keys.get(fingerprint)
    except (_UnknownError, ValueError, TypeError):  # ValueError: an empty cell
        return Identity(None, tensors)
    return Identity(_keep(_keys, fingerprint, object()) if key is None else key, tensors)


def _keep(kept: dict[Hashable, Any], key: Hashable, value: Any) -> Any:
    """What is kept under the key from now on, which another thread may have put there."""
    with _kept_lock:
        while len(kept) >= _MAX_KEPT:
            kept.pop(next(iter(kept)))
        return kept.setdefault(key, value)


def trace(
    score_mod: Callable[..., Any] | None,
    mask_mod: Callable[..., Any] | None,
    device: torch.device,
    identity: Identity | None = None,
    lists: _masks.Lists | None = None,
) -> Traced:
    """The regions of functions with FlexAttention's arguments, (score, b, h, q_idx, kv_idx) and (b, h, q_idx, kv_idx).

    With `lists`, the mask is that of `_masks.read_states`, whose tensor is read behind those of `captures`, which are without it.
    NotImplementedError for what no region can do, which names the operation and its line.
    """
    identity = identity or identify(score_mod, mask_mod, device)
    tensors = identity.tensors
    if identity.key is not None and (kept := _kept.get((identity.key, lists))):
        traced, numbers = kept
        return traced.bind([tensors[n] for n in numbers])
    if lists is None:
        traced = translate(score_mod, mask_mod, device)
    else:
        traced = translate_listed(score_mod, mask_mod, device, trace(score_mod, mask_mod, device, identity), lists)
    found = [_find(capture.tensor, tensors) for capture in traced.captures]
    if identity.key is not None and None not in found:
        # Without the tensors, which would stay in memory.
        bare = traced.bind([torch.empty(0)] * len(found))
        _keep(_kept, (identity.key, lists), (bare, tuple(n for n in found if n is not None)))
    return traced


def translate_listed(score_mod: Any, mask_mod: Any, device: torch.device, traced: Traced, lists: _masks.Lists) -> Traced:
    """The regions of functions that were traced where the mask also has what lists say of a block, from a tensor behind their captures."""
    stand_in = torch.zeros((*lists.sizes, 1, 1), dtype=torch.int32, device=device)
    known = (*traced.captures, Capture(stand_in, f"%capture{len(traced.captures)}"))
    listed = translate(score_mod, _masks.read_states(mask_mod, stand_in, lists.block_size), device, known)
    return Traced(listed.clauses, traced.captures, listed.detaches)


def _find(tensor: torch.Tensor, tensors: Sequence[torch.Tensor]) -> int | None:
    return next((number for number, one in enumerate(tensors) if one is tensor), None)
