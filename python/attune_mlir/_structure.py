# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of `attune_mlir.ir`, what is in them, and where they are put."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar, overload

from . import _native
from ._attributes import DenseI32ArrayAttr, to_attribute
from ._context import Attribute, Context, Entered, Handle, Location, Type, _CurrentOf, find_location, get_context
from ._diagnostics import CompileError, parse_diagnostics

View = TypeVar("View", bound="type[OpView]")


class Value(Handle):
    """The result of an operation, or the argument of a block."""

    __slots__ = ()

    def __class_getitem__(cls, type: object) -> types.GenericAlias:
        """Itself, with the type that generated code says that it has."""
        return types.GenericAlias(cls, type)

    @staticmethod
    def _wrap(native: Any) -> Value:
        return (BlockArgument if native.is_argument else OpResult)._of(native)

    @property
    def type(self) -> Any:
        return Type._wrap(self._native.type)

    @property
    def context(self) -> Context:
        return self.type.context  # type: ignore[no-any-return]

    @property
    def owner(self) -> Any:
        """The operation whose result it is, or the block whose argument."""
        native = self._native.owner
        return Block._of(native) if isinstance(native, _native.Block) else _view(native)

    @property
    def uses(self) -> list[OpOperand]:
        """Where it is an operand: each operation, and which of its operands; what came last is first."""
        return [OpOperand(_view(native), number) for native, number in self._native.uses]

    def replace_all_uses_with(self, other: Value) -> None:
        """Makes another value the operand wherever this one is."""
        self._native.replace_all_uses_with(other._native)

    def __repr__(self) -> str:
        if self._native.is_erased:
            return "<value of an erased operation>"
        kind = "argument" if self._native.is_argument else "result"
        return f"<{kind} {self._native.number} of type {self.type}>"


class OpResult(Value):
    """The result of an operation."""

    __slots__ = ()

    @property
    def result_number(self) -> int:
        return int(self._native.number)


class BlockArgument(Value):
    """The argument of a block."""

    __slots__ = ()

    @property
    def arg_number(self) -> int:
        return int(self._native.number)


class OpOperand(NamedTuple):
    """A use of a value."""

    owner: Operation | OpView
    operand_number: int


class OpOperandList(Sequence[Value]):
    """The operands of an operation, which can be replaced one by one."""

    def __init__(self, native: Any) -> None:
        self._native = native

    def __len__(self) -> int:
        return len(self._native.operands)

    @overload
    def __getitem__(self, position: int) -> Value: ...
    @overload
    def __getitem__(self, position: slice) -> list[Value]: ...
    def __getitem__(self, position: int | slice) -> Value | list[Value]:
        found = self._native.operands[position]
        return [Value._wrap(native) for native in found] if isinstance(position, slice) else Value._wrap(found)

    def __setitem__(self, position: int, value: Value) -> None:
        self._native.set_operand(range(len(self))[position], value._native)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


class OpResultList(tuple[OpResult, ...]):
    """The results of an operation."""

    __slots__ = ()


class RegionSequence(tuple["Region", ...]):
    """The regions of an operation."""

    __slots__ = ()


class OpAttributeMap(MutableMapping[str, Any]):
    """The attributes of an operation, its own and others, by names. Text and types become attributes."""

    def __init__(self, operation: Operation) -> None:
        self._operation = operation

    def __getitem__(self, name: str) -> Any:
        return Attribute._wrap(dict(self._operation._native.attributes)[name])

    def _set(self, name: str, native: Any) -> None:
        if said := self._operation._native.set_attribute(name, native):
            raise CompileError(parse_diagnostics(said))

    def __setitem__(self, name: str, value: object) -> None:
        self._set(name, to_attribute(value, self._operation.context)._native)

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        self._set(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter([name for name, _ in self._operation._native.attributes])

    def __len__(self) -> int:
        return len(self._operation._native.attributes)


class _OperationBase(Handle):
    """What an operation has, in general and as the class of its dialect."""

    __slots__ = ()

    @property
    def operation(self) -> Operation:
        """Itself, in general."""
        return Operation._of(self._native)

    @property
    def opview(self) -> Any:
        """Itself, as the class of its dialect where `attune_mlir.dialects` was imported with it."""
        return _view(self._native)

    @property
    def name(self) -> str:
        """With its dialect: "attn.attention"."""
        return str(self._native.name)

    @property
    def context(self) -> Context:
        return Context._of(self._native.context)

    @property
    def location(self) -> Location:
        return Location._of(self._native.location)

    @property
    def attributes(self) -> OpAttributeMap:
        return OpAttributeMap(self.operation)

    @property
    def operands(self) -> OpOperandList:
        return OpOperandList(self._native)

    @property
    def results(self) -> OpResultList:
        return OpResultList(OpResult._of(native) for native in self._native.results)

    @property
    def result(self) -> OpResult:
        """The only result. Raises ValueError where there are others, or none."""
        found = self.operation.results
        if len(found) != 1:
            raise ValueError(f"expects an operation with one result, but got {self.name}, which has {len(found)}")
        return found[0]

    @property
    def type(self) -> Any:
        """The type of the only result."""
        return self.operation.result.type

    @property
    def regions(self) -> RegionSequence:
        return RegionSequence(Region._of(native) for native in self._native.regions)

    @property
    def successors(self) -> list[Block]:
        """Blocks that a terminator goes on with."""
        return [Block._of(native) for native in self._native.successors]

    @property
    def block(self) -> Block | None:
        """The block that it is in; None of a module."""
        native = self._native.block
        return None if native is None else Block._of(native)

    @property
    def parent(self) -> Any:
        """The operation that it is in; None of a module."""
        native = self._native.block
        return None if native is None else _view(native.owner)

    def verify(self) -> bool:
        """True. Raises CompileError, with the places, where it or what is in it contradicts its dialect."""
        ok, said = self._native.verify()
        if not ok:
            raise CompileError(parse_diagnostics(said))
        return True

    def print(self, *, generic: bool = False, locations: bool = False) -> str:
        """As text: with `generic` in the form without any op's own syntax, with `locations` with where ops come from."""
        return str(self._native.print(generic, locations))

    def erase(self) -> None:
        """Erases it and all within; what Python holds of it raises ValueError then. Raises it where values have uses elsewhere."""
        self._native.erase()

    def walk(self, name: str | None = None) -> Iterator[Any]:
        """This operation and all within, each before what is in it, but for what is erased meanwhile; with `name` those of this name."""
        for native in self._native.walk():
            if not native.is_erased and (name is None or native.name == name):
                yield _view(native)

    def __str__(self) -> str:
        return self.operation.print()

    def __repr__(self) -> str:
        native = getattr(self, "_native", None)  # which it lacks where it could not be built
        return "<erased operation>" if native is None or native.is_erased else f"<{native.name} at {Location._of(native.location)}>"


class Operation(_OperationBase):
    """An operation of any dialect."""

    __slots__ = ()

    @staticmethod
    def create(
        name: str,
        results: Sequence[Type] | None = (),
        operands: Sequence[Value | _OperationBase] = (),
        attributes: Mapping[str, object] | None = None,
        successors: Sequence[Block] | None = None,
        regions: int = 0,
        loc: Location | None = None,
        ip: InsertionPoint | bool | None = None,
    ) -> Operation:
        """Makes an operation at `ip`, or where `with` says, or in no block if neither does or `ip` is False.

        Raises CompileError where `results` is None and the types cannot be inferred, and ValueError where there is no such
        operation, or parts are of different contexts.
        """
        point = InsertionPoint.current if ip is None or ip is True else ip or None
        context = loc.context if loc else point.block.owner.context if point and not Context.current else get_context()
        parts = _native.Parts(
            name,
            [_to_value(operand)._native for operand in operands],
            None if results is None else [_check(Type, result)._native for result in results],
            [(key, to_attribute(value, context)._native) for key, value in (attributes or {}).items()],
            regions,
            [_check(Block, successor)._native for successor in successors or ()],
            (loc or find_location(context))._native,
        )
        before = point._before._native if point and point._before else None
        native, said = context._native.create(parts, point.block._native if point else None, before)
        if native is None:
            raise CompileError(parse_diagnostics(said))
        return Operation._of(native)


def _check(kind: type[Any], part: object) -> Any:
    if not isinstance(part, kind):
        other = type(part)  # of upstream's package, it may have the same name
        raise TypeError(f"expects {kind.__name__}, but got {other.__name__ if other.__module__ == 'builtins' else other}")
    return part


def _to_value(part: object) -> Value:
    """A value, or the only result of an operation."""
    if isinstance(part, _OperationBase):
        return part.operation.result
    if isinstance(part, OpResultList) and len(part) == 1:
        return part[0]
    if not isinstance(part, Value):
        raise TypeError(f"expects a value, or an operation with one result, but got {type(part).__name__}")
    return part


def _split(name: str, parts: Sequence[Any], segments: Sequence[int]) -> tuple[list[Any], DenseI32ArrayAttr]:
    """Operands or types of results, of which 1 is one, 0 may be None or () and -1 are any number; and how many each are."""
    if len(parts) != len(segments):
        # Generated code leaves out an optional result that is None.
        raise ValueError(f"expects {len(segments)} results of '{name}', of which those that are not there are (), but got {len(parts)}")
    flat: list[Any] = []
    sizes = []
    for part, segment in zip(parts, segments, strict=True):
        if segment == -1:
            group = list(part.results if isinstance(part, _OperationBase) else part or ())
        elif part is None and segment == 1:
            raise TypeError(f"expects all operands and results of '{name}' that are not optional, but got None")
        else:
            group = [] if part is None or part == () else [part]
        flat += group
        sizes.append(len(group))
    return flat, DenseI32ArrayAttr.get(sizes, get_context())


class OpView(_OperationBase):
    """An operation as the class of its dialect, which mlir-tblgen generates: its constructor builds one."""

    __slots__ = ()
    OPERATION_NAME: ClassVar[str]
    _ODS_OPERAND_SEGMENTS: ClassVar[Sequence[int] | None] = None
    _ODS_RESULT_SEGMENTS: ClassVar[Sequence[int] | None] = None
    _ODS_REGIONS: ClassVar[tuple[int, bool]] = (0, True)

    def __init__(
        self,
        name: str,
        ods_regions: tuple[int, bool],
        operand_segments: Sequence[int] | None,
        result_segments: Sequence[int] | None,
        *,
        attributes: Mapping[str, object],
        results: Sequence[Any] | None,
        operands: Sequence[Any],
        successors: Sequence[Block] | None = None,
        regions: int | None = None,
        loc: Location | None = None,
        ip: InsertionPoint | bool | None = None,
    ) -> None:
        attributes = dict(attributes)
        if operand_segments is not None:
            operands, attributes["operandSegmentSizes"] = _split(name, operands, operand_segments)
        if result_segments is not None and results is not None:
            results, attributes["resultSegmentSizes"] = _split(name, results, result_segments)
        # A result without a type has that which the operands determine.
        inferred = None if results is None or None in list(results) else results
        count = ods_regions[0] if regions is None else regions
        self._native = Operation.create(name, inferred, operands, attributes, successors, count, loc, ip)._native


#: Of operations whose dialect was imported.
_VIEWS: dict[str, type[OpView]] = {}


def register_operation(dialect: type[Dialect]) -> Callable[[View], View]:
    """Decorates the class of an operation."""

    def register(view: View) -> View:
        _VIEWS[view.OPERATION_NAME] = view
        return view

    return register


def _view(native: Any) -> Any:
    return _VIEWS.get(native.name, Operation)._of(native)


class Dialect:
    """A dialect whose operations have classes."""

    DIALECT_NAMESPACE: ClassVar[str]


class Block(Handle):
    """Operations one after the other."""

    __slots__ = ()

    @staticmethod
    def create_at_start(parent: Region, arg_types: Sequence[Type] = (), arg_locs: Sequence[Location] | None = None) -> Block:
        """Makes the first block of a region, with arguments of these types."""
        return parent.blocks._insert(True, arg_types, arg_locs)

    @property
    def arguments(self) -> tuple[BlockArgument, ...]:
        return tuple(BlockArgument._of(native) for native in self._native.arguments)

    @property
    def operations(self) -> tuple[Any, ...]:
        return tuple(_view(native) for native in self._native.operations)

    @property
    def owner(self) -> Any:
        """The operation that it is in."""
        return _view(self._native.owner)

    @property
    def region(self) -> Region:
        return Region._of(self._native.region)

    def add_argument(self, type: Type, loc: Location | None = None) -> BlockArgument:
        """Adds one behind the others."""
        location = loc or find_location(_check(Type, type).context)
        return BlockArgument._of(self._native.add_argument(type._native, location._native))

    def append(self, operation: _OperationBase) -> None:
        """Moves an operation that is in no block to the end."""
        InsertionPoint(self).insert(operation)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.operations)

    def __repr__(self) -> str:
        return f"<block of {len(self._native.operations)} operations>"


class BlockList(Sequence[Block]):
    """The blocks of a region."""

    def __init__(self, native: Any) -> None:
        self._native = native

    def __len__(self) -> int:
        return len(self._native.blocks)

    @overload
    def __getitem__(self, position: int) -> Block: ...
    @overload
    def __getitem__(self, position: slice) -> list[Block]: ...
    def __getitem__(self, position: int | slice) -> Block | list[Block]:
        found = self._native.blocks[position]
        return [Block._of(native) for native in found] if isinstance(position, slice) else Block._of(found)

    def append(self, *args: Type, arg_locs: Sequence[Location] | None = None) -> Block:
        """Makes a block behind the others, with arguments of these types."""
        return self._insert(False, args, arg_locs)

    def _insert(self, first: bool, arg_types: Sequence[Type], arg_locs: Sequence[Location] | None) -> Block:
        if arg_locs is not None and len(arg_locs) != len(arg_types):
            raise ValueError(f"expects a location for each of {len(arg_types)} arguments, but got {len(arg_locs)}")
        if any(_check(Type, kind).context != Context._of(self._native.owner.context) for kind in arg_types):
            raise ValueError("expects types of the operation's context, but got one of another context")
        block = Block._of(self._native.insert(first))
        for position, kind in enumerate(arg_types):
            block.add_argument(kind, arg_locs[position] if arg_locs else None)
        return block


class Region(Handle):
    """The blocks that an operation has, of which the first one is entered."""

    __slots__ = ()

    @property
    def blocks(self) -> BlockList:
        return BlockList(self._native)

    @property
    def owner(self) -> Any:
        """The operation that has it."""
        return _view(self._native.owner)

    def __iter__(self) -> Iterator[Block]:
        return iter(self.blocks)

    def __len__(self) -> int:
        return len(self.blocks)

    def __getitem__(self, position: int) -> Block:
        return self.blocks[position]

    def __repr__(self) -> str:
        return f"<region of {len(self)} blocks>"


class InsertionPoint(Entered):
    """Where operations are built: at the end of a block, or before an operation. Within `with`, the default."""

    __slots__ = ("_before", "block")
    current: _CurrentOf[InsertionPoint] = _CurrentOf(3)

    def __init__(self, place: Block | _OperationBase) -> None:
        self._before: _OperationBase | None = None
        if isinstance(place, _OperationBase):
            if place.block is None:
                raise ValueError("expects an operation that is in a block to insert before, but got one that is in none")
            self._before = place
            place = place.block
        self.block: Block = _check(Block, place)

    @staticmethod
    def at_block_begin(block: Block) -> InsertionPoint:
        """Before the first operation."""
        return InsertionPoint(block.operations[0] if block.operations else block)

    @staticmethod
    def at_block_terminator(block: Block) -> InsertionPoint:
        """Before the last operation. Raises ValueError where there is none."""
        if not block.operations:
            raise ValueError("expects a block with a terminator, but got an empty one")
        return InsertionPoint(block.operations[-1])

    @property
    def ref_operation(self) -> Any:
        """The operation to insert before, or None."""
        return self._before

    def insert(self, operation: _OperationBase) -> None:
        """Moves an operation that is in no block here."""
        before = None if self._before is None else self._before._native
        _check(_OperationBase, operation)._native.insert(self.block._native, before)

    def __enter__(self) -> InsertionPoint:
        self._push(self.block.owner.context, None, self)
        return self
