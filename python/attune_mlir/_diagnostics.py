# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the compiler says, and how it is raised."""

from __future__ import annotations

import dataclasses
import re


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
