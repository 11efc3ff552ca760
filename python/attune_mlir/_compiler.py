# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules, passes and compilation: what attune-opt does, as functions."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _native, _store
from ._diagnostics import CompileError as CompileError
from ._diagnostics import Diagnostic as Diagnostic
from ._diagnostics import parse_diagnostics as parse_diagnostics
from .ir import Module as Module

FORMATS = ("bin", "isa", "llvm")


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
    """A module that was verified: one that was built may be anything."""
    if not isinstance(source, Module):
        return parse(source)
    source.operation.verify()
    return source


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
