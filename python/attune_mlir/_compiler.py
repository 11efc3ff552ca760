# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules, passes and compilation: what attune-opt does, as functions."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import _native, _store, _walk

FORMATS = ("bin", "isa", "llvm")


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """What the compiler says about a place in a module."""

    #: "error", "warning", "remark" or "note"; a note belongs to what stands before it.
    severity: str
    text: str
    #: Name of the source, and line and column from 1; None where there is no place.
    file: str | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = "" if self.file is None else f"{self.file}:{self.line}:{self.column}: "
        return f"{place}{self.severity}: {self.text}"


class CompileError(ValueError):
    """A module that cannot be parsed, or on which a pass or the compiler failed.

    Its text is that of all diagnostics, which are `diagnostics` one by one.
    """

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__("\n".join(str(diagnostic) for diagnostic in diagnostics) or "compilation failed")
        self.diagnostics = diagnostics

    def __reduce__(self) -> tuple[type[CompileError], tuple[tuple[Diagnostic, ...]]]:
        return CompileError, (self.diagnostics,)


_DIAGNOSTIC = re.compile(r"(?:(?P<file>.*?):(?P<line>\d+):(?P<column>\d+): )?(?P<severity>error|warning|remark|note): (?P<text>.*)")


def parse_diagnostics(said: str) -> tuple[Diagnostic, ...]:
    """Reads lines of `file:line:column: error: text`; a line of another form goes on with the text before it."""
    found: list[Diagnostic] = []
    for line in said.splitlines():
        match = _DIAGNOSTIC.fullmatch(line)
        if match is None:
            if found:
                found[-1] = dataclasses.replace(found[-1], text=f"{found[-1].text}\n{line}")
            else:
                found.append(Diagnostic("error", line))
        elif match["file"] is None:
            found.append(Diagnostic(match["severity"], match["text"]))
        else:
            found.append(Diagnostic(match["severity"], match["text"], match["file"], int(match["line"]), int(match["column"])))
    # The whole operation, in the generic form, is more than who wrote it wants to read.
    return tuple(diagnostic for diagnostic in found if not diagnostic.text.startswith("see current operation:"))


class Module:
    """A module of MLIR, in the dialects of Attune and of upstream. `parse` makes one.

    It is not changed by any function here. Modules may be used in any thread.
    """

    def __init__(self, native: _native.Module) -> None:
        self._native = native

    def print(self, *, generic: bool = False, locations: bool = False) -> str:
        """The module as text: with `generic` in the form without any op's own syntax, with `locations` with where ops come from."""
        return self._native.print(generic, locations)

    def bytecode(self) -> bytes:
        """The module as MLIR bytecode, which `parse` and `compile` take, too."""
        return self._native.bytecode()

    @functools.cached_property
    def operation(self) -> _walk.Operation:
        """The module as an operation, with all that is in it: attributes, values with their types and users, regions, locations.

        It is a description: it can be kept when the module is gone, and a change of it changes nothing.
        """
        return _walk.read(self._native.describe())

    def walk(self, name: str | None = None) -> Iterator[_walk.Operation]:
        """All operations, each before what is in it; with `name`, as "attn.attention", those of this name alone."""
        return self.operation.walk(name)

    def __str__(self) -> str:
        return self.print()


def parse(source: str | bytes, *, filename: str = "<source>") -> Module:
    """Parses and verifies a module from text or bytecode.

    `filename` is what diagnostics call the source. Raises CompileError where it is no valid module.
    """
    if not isinstance(source, (str, bytes)):
        raise TypeError(f"expects the source of a module as str or bytes, but got {type(source).__name__}")
    native, said = _native.parse(source.encode() if isinstance(source, str) else source, filename)
    if native is None:
        raise CompileError(parse_diagnostics(said))
    return Module(native)


def _get_module(source: Module | str | bytes) -> Module:
    return source if isinstance(source, Module) else parse(source)


def run_pipeline(source: Module | str | bytes, pipeline: str) -> Module:
    """Runs passes on a copy of a module and returns it.

    `pipeline` is as mlir-opt's --pass-pipeline has it, of our passes and upstream's: "builtin.module(canonicalize)".
    Raises CompileError where the pipeline cannot be read, or a pass fails.
    """
    result = parse(_get_module(source).bytecode())
    ok, said = result._native.run(pipeline)
    if not ok:
        raise CompileError(parse_diagnostics(said))
    return result


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A compiled kernel, and how it is launched."""

    #: Name of the entry in the image.
    name: str
    #: A cubin, an HSACO, assembly, or for the host executor bytecode.
    image: bytes
    #: Whether the image is assembly: PTX, which NVIDIA's driver takes, or AMD's, which no driver does.
    is_assembly: bool
    #: Arguments, grid, block, shared memory (docs/Manifest.md), as JSON text.
    manifest_json: str

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The manifest as a dictionary."""
        manifest: dict[str, Any] = json.loads(self.manifest_json)
        return manifest


@dataclasses.dataclass(frozen=True)
class Compiled:
    """What became of a module."""

    chip: str
    format: str
    #: In the order of the module.
    kernels: tuple[Kernel, ...]
    #: Kernels that work together (docs/Manifest.md#a-sequence).
    sequences: tuple[Mapping[str, Any], ...]
    #: Warnings and remarks.
    diagnostics: tuple[Diagnostic, ...]


def compile(
    source: Module | str | bytes,
    *,
    chip: str,
    format: str = "bin",
    tuning_specs: Sequence[str | os.PathLike[str]] = (),
    assembler: str | os.PathLike[str] = "",
    sms: int = 0,
    cached: bool = True,
) -> Compiled:
    """Compiles all attention and all matmuls of a module to kernels.

    chip          name of the chip, one of `chips()`
    format        "bin" for objects (PTX where there is no ptxas), "isa" for assembly, "llvm" for the host executor
    tuning_specs  paths of files with schedules that a search found, the most important one first
    assembler     path of ptxas; searched in PATH and the toolkit's variables if not given
    sms           SMs to launch persistent workgroups on; 0 for those of the chip
    cached        whether to look for the result on disk, and to keep it there (`attune_mlir.cache`)

    Raises CompileError with located diagnostics where a module cannot be compiled, TypeError and ValueError for
    arguments that cannot be.
    """
    if format not in FORMATS:
        raise ValueError(f"expects the format to be one of {', '.join(FORMATS)}, but got '{format}'")
    if not isinstance(sms, int) or sms < 0:
        raise ValueError(f"expects sms to be at least 0, but got {sms!r}")
    if isinstance(tuning_specs, (str, bytes, os.PathLike)):
        raise TypeError(f"expects tuning_specs to be a sequence of paths, but got {type(tuning_specs).__name__}")
    module = _get_module(source)
    specs = [os.fspath(spec) for spec in tuning_specs]
    tool = os.fspath(assembler)

    def run() -> dict[str, Any]:
        ok, said, kernels, sequences = module._native.compile(chip, format, tool, sms, specs)
        if not ok:
            raise CompileError(parse_diagnostics(said))
        return {"kernels": kernels, "sequences": sequences, "diagnostics": said}

    if cached:
        key = _store.make_key(
            # With locations, for diagnostics and assembly have them.
            module=module.bytecode(),
            chip=chip,
            format=format,
            sms=sms,
            toolchain=_native.toolchain(chip, tool) if format == "bin" else "",
            tuning_specs=[_store.hash_file(spec) for spec in specs],
        )
        result = _store.get_or_make(key, run)
    else:
        result = run()
    return Compiled(
        chip=chip,
        format=format,
        kernels=tuple(Kernel(*kernel) for kernel in result["kernels"]),
        sequences=tuple(json.loads(sequence) for sequence in result["sequences"]),
        diagnostics=parse_diagnostics(result["diagnostics"]),
    )


@dataclasses.dataclass(frozen=True)
class Chip:
    """A chip that this version compiles for."""

    #: As its vendor's tools spell it.
    name: str
    #: Which folder of lib/Target lowers for it.
    family: str
    #: Threads of a warp (a wave).
    lanes: int
    #: SMs, or compute units, of the whole chip.
    sms: int
    #: Shared memory that a workgroup may have, in bytes.
    shared_bytes: int
    #: 32-bit registers that a thread may have.
    registers: int
    #: Threads that a workgroup may have.
    max_threads: int


def chips() -> tuple[Chip, ...]:
    """The chips that can be compiled for, sorted by name."""
    found = ((name, _native.chip_facts(name)) for name in _native.chips())
    return tuple(Chip(name, *facts) for name, facts in found if facts is not None)


def version() -> str:
    """The versions of Attune and of the LLVM inside, as in "0.1.0, LLVM 22.1.8"."""
    return _native.version()
