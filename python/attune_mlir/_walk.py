# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is in a module: operations, their attributes, values, regions and locations, as objects of Python."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

#: Of an attribute: text for what is none of the others, as MLIR prints it. A unit attribute is True.
Attribute = bool | int | float | str | tuple[Any, ...] | Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Location:
    """Where an operation comes from."""

    #: As MLIR prints it.
    text: str
    #: Name of the source, and line and column from 1; None where the location is no place in a file.
    file: str | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return self.text


@dataclasses.dataclass(eq=False, repr=False)
class Value:
    """The result of an operation, or the argument of a block."""

    #: As MLIR prints it.
    type: str
    owner: Operation | Block
    #: Its number among those of the owner.
    position: int
    #: Operations that take it as an operand, in the order of the module, once for each time.
    users: list[Operation] = dataclasses.field(default_factory=list)

    def __repr__(self) -> str:
        kind = "result" if isinstance(self.owner, Operation) else "argument"
        return f"<{kind} {self.position} of type {self.type}>"


@dataclasses.dataclass(eq=False, repr=False)
class Block:
    """Operations one after the other."""

    parent: Region
    arguments: tuple[Value, ...] = ()
    operations: tuple[Operation, ...] = ()

    def __repr__(self) -> str:
        return f"<block of {len(self.operations)} operations>"


@dataclasses.dataclass(eq=False, repr=False)
class Region:
    """The blocks that an operation has, of which the first one is entered."""

    parent: Operation
    blocks: tuple[Block, ...] = ()

    def __repr__(self) -> str:
        return f"<region of {len(self.blocks)} blocks>"


@dataclasses.dataclass(eq=False, repr=False)
class Operation:
    """An operation of any dialect, and what is in it."""

    #: With its dialect: "attn.attention".
    name: str
    location: Location
    #: The operation's own and others.
    attributes: Mapping[str, Attribute]
    #: None of the module itself.
    parent: Block | None
    operands: tuple[Value, ...] = ()
    results: tuple[Value, ...] = ()
    regions: tuple[Region, ...] = ()
    #: Blocks that a terminator goes on with.
    successors: tuple[Block, ...] = ()

    def walk(self, name: str | None = None) -> Iterator[Operation]:
        """This operation and all within, each before what is in it; with `name` those of this name alone."""
        if name is None or self.name == name:
            yield self
        for region in self.regions:
            for block in region.blocks:
                for operation in block.operations:
                    yield from operation.walk(name)

    def __repr__(self) -> str:
        return f"<{self.name} at {self.location}>"


class _Reader:
    """Makes objects of what the extension says. Values and blocks have numbers there, and may be used before they are defined."""

    def __init__(self) -> None:
        self._values: dict[int, Value] = {}
        self._blocks: dict[int, Block] = {}
        self._uses: list[tuple[Operation, list[int], list[int]]] = []

    def read(self, said: Any) -> Operation:
        module = self._read_operation(said, None)
        for operation, operands, successors in self._uses:
            operation.operands = tuple(self._values[number] for number in operands)
            operation.successors = tuple(self._blocks[number] for number in successors)
            for value in operation.operands:
                value.users.append(operation)
        return module

    def _define(self, said: list[tuple[int, str]], owner: Operation | Block) -> tuple[Value, ...]:
        for position, (number, kind) in enumerate(said):
            self._values[number] = Value(kind, owner, position)
        return tuple(self._values[number] for number, _ in said)

    def _read_operation(self, said: Any, parent: Block | None) -> Operation:
        name, location, attributes, operands, results, regions, successors = said
        operation = Operation(name, Location(*location), attributes, parent)
        operation.results = self._define(results, operation)
        self._uses.append((operation, operands, successors))
        operation.regions = tuple(self._read_region(region, operation) for region in regions)
        return operation

    def _read_region(self, said: Any, parent: Operation) -> Region:
        region = Region(parent)
        blocks = []
        for number, arguments, operations in said:
            block = self._blocks[number] = Block(region)
            block.arguments = self._define(arguments, block)
            block.operations = tuple(self._read_operation(operation, block) for operation in operations)
            blocks.append(block)
        region.blocks = tuple(blocks)
        return region


def read(said: Any) -> Operation:
    """The module that the extension describes."""
    return _Reader().read(said)
