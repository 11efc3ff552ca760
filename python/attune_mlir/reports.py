# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What searches wrote: reports, of `attune-tune --json`, and databases, of `--db` (docs/Tuning.md).

All that is used of reports is checked here, so that who draws them, as attune-report does, meets no surprise. This file is a part
of that program, too, and so imports nothing of the package.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import json
import os
import pathlib
import re
from typing import Any

#: Of numbers in a report.
LARGEST = 1e30


class InputError(ValueError):
    """What the user has to mend: `<file>: expects ..., but got ...`."""


# Of a knob: spaces in transform IR have strings, too.
Value = int | str


@dataclasses.dataclass
class Origin:
    """Whose idea a candidate was; `parents` are indices of results."""

    lineage: str
    step: str
    parents: list[int]


@dataclasses.dataclass
class Result:
    """One candidate. Times are in nanoseconds, `score` is the predicted time."""

    schedule: dict[str, Value]
    status: str
    message: str
    median_ns: float | None
    score: float | None
    registers: int | None
    spill_bytes: int | None
    origin: Origin | None
    # Operations of matrix instructions a clock and SM, by the model of the main loop.
    loop_flops_per_clock: int | None = None
    # Its other numbers, as `matrix_clocks`.
    loop_terms: dict[str, int] = dataclasses.field(default_factory=dict)
    # What the chip was like meanwhile; joules are those of a launch.
    energy_j: float | None = None
    mean_power_w: float | None = None
    pj_per_flop: float | None = None
    clock_mhz: int | None = None
    throttle_reasons: list[str] | None = None
    settled: bool | None = None


@dataclasses.dataclass
class Problem:
    """One attention op and all that was tried for it, in order of completion."""

    path: str
    name: str
    label: str
    chip: str
    device: str
    flops: float
    timed: bool
    executed: bool
    tried: int
    statuses: dict[str, int]
    illegal: dict[str, tuple[int, str]]
    # Legal ones that experience says are not worth trying.
    skipped: dict[str, tuple[int, str]]
    results: list[Result]
    default: Result | None
    best: Result | None
    # What problems share whose schedules may be alike, and the sizes in which
    # they differ; both are empty in reports of before there were any.
    kind: str = ""
    sizes: dict[str, int] = dataclasses.field(default_factory=dict)
    vendor_ns: float | None = None
    # Of the chip while it was measured: what is measured in two does not compare.
    state: str = ""
    # What the winner has least of.
    objective: str = "time"

    @property
    def place(self) -> str:
        """What times compare on: the device in its state."""
        return f"{self.device}, {self.state}" if self.state else self.device

    def cost(self, result: Result) -> float | None:
        """The measured time or, where nothing was timed, the predicted one."""
        if result.status != "ok":
            return None
        return result.median_ns if self.timed else result.score

    def tflops(self, nanoseconds: float) -> float | None:
        return self.flops / nanoseconds / 1000 if self.flops else None


class Node:
    """A JSON value that knows its place."""

    def __init__(self, path: str, place: str, value: Any):
        self.path, self.place, self.value = path, place, value

    def fail(self, expected: str) -> InputError:
        got = "nothing" if self.value is None else json.dumps(self.value)
        got = got if len(got) <= 60 else got[:57] + "..."
        place = f" as {self.place}" if self.place else ""
        return InputError(f"{self.path}: expects {expected}{place}, but got {got}")

    def __getitem__(self, key: str) -> Node:
        place = f"{self.place}.{key}" if self.place else key
        return Node(self.path, place, self.of(dict, "an object").get(key))

    def of(self, kind: type, expected: str) -> Any:
        # To Python a boolean is a number.
        if not isinstance(self.value, kind) or (kind is int and isinstance(self.value, bool)):
            raise self.fail(expected)
        return self.value

    def items(self) -> list[Node]:
        values = self.of(list, "a list")
        return [Node(self.path, f"{self.place}[{i}]", value) for i, value in enumerate(values)]

    def fields(self) -> dict[str, Node]:
        return {clean(key): self[key] for key in self.of(dict, "an object")}

    def text(self) -> str:
        return clean(self.of(str, "a string"))

    def count(self) -> int:
        return int(self.number(integer=True))

    def number(self, lowest: float = 0, integer: bool = False) -> float:
        # Far from what overflows where numbers are divided and drawn.
        expected = f"{'an integer' if integer else 'a number'} from {lowest:g} to {LARGEST:g}"
        if integer or not isinstance(self.value, float):
            self.of(int, expected)
        if not lowest <= self.value <= LARGEST:
            raise self.fail(expected)
        return float(self.value) if isinstance(self.value, float) else int(self.value)

    def knob(self) -> Value:
        return self.text() if isinstance(self.value, str) else self.of(int, "a number or a string")

    def time(self) -> float:
        return self.number(lowest=0.001)

    def amount(self) -> float:
        return self.number(lowest=1e-12)

    def optional(self, read: Any) -> Any:
        return None if self.value is None else read(self)


def clean(text: str) -> str:
    """Without what neither HTML nor UTF-8 can hold: controls and half characters."""
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]", "\ufffd", text)


def read_origin(node: Node) -> Origin:
    return Origin(lineage=node["lineage"].text(), step=node["step"].text(), parents=[parent.count() for parent in node["parents"].items()])


def read_result(node: Node) -> Result:
    resources = node["resources"]
    return Result(
        schedule={name: value.knob() for name, value in node["schedule"].fields().items()},
        status=node["status"].text(),
        message=node["message"].optional(Node.text) or "",
        median_ns=node["median_ns"].optional(Node.time),
        score=node["score"].optional(Node.time),
        registers=resources["registers"].optional(Node.count),
        spill_bytes=resources["spill_bytes"].optional(Node.count),
        origin=node["origin"].optional(read_origin),
        loop_flops_per_clock=resources["loop_flops_per_clock"].optional(Node.count),
        loop_terms={name: term.count() for name, term in (resources["loop_terms"].optional(Node.fields) or {}).items()},
        energy_j=node["energy_j"].optional(Node.amount),
        mean_power_w=node["mean_power_w"].optional(Node.amount),
        pj_per_flop=node["pj_per_flop"].optional(Node.amount),
        clock_mhz=node["clock_mhz"].optional(Node.count),
        throttle_reasons=node["throttle_reasons"].optional(lambda names: [name.text() for name in names.items()]),
        settled=node["settled"].optional(lambda settled: settled.of(bool, "true or false")),
    )


def read_rules(rules: dict[str, Node]) -> dict[str, tuple[int, str]]:
    return {rule: (refused["count"].count(), refused["message"].text()) for rule, refused in rules.items()}


def read_problem(node: Node) -> Problem:
    nodes = node["results"].items()
    results = [read_result(result) for result in nodes]

    def pick(index: Node) -> Result:
        if index.count() >= len(results):
            raise index.fail(f"the index of one of {len(results)} results")
        return results[index.count()]

    for result_node, result in zip(nodes, results, strict=True):
        if result.origin:
            for parent in result_node["origin"]["parents"].items():
                pick(parent)
    executed = node["executed"].of(bool, "true or false")
    return Problem(
        path=clean(node.path),
        name=node["problem"].text(),
        label="",
        chip=node["chip"].text(),
        device=node["device"].text(),
        flops=node["flops"].number(),
        timed=node["timed"].of(bool, "true or false"),
        executed=executed,
        tried=node["tried"].count(),
        statuses={name: count.count() for name, count in node["statuses"].fields().items()},
        illegal=read_rules(node["refused"].fields()),
        skipped=read_rules(node["skipped"].optional(Node.fields) or {}),
        results=results,
        # `results` of what was executed has the failures only, so that an index says nothing.
        default=None if executed else node["default"].optional(pick),
        best=None if executed else node["best"].optional(pick),
        kind=node["kind"].optional(Node.text) or "",
        vendor_ns=node["vendor_ns"].optional(Node.time),
        state=node["chip_state"].optional(Node.text) or "",
        objective=node["objective"].optional(Node.text) or "time",
        sizes={name: size.count() for name, size in (node["sizes"].optional(Node.fields) or {}).items()},
    )


def read_report(path: str) -> list[Problem]:
    """The problems of one file. Raises InputError."""

    def refuse(constant: str) -> float:
        raise InputError(f"{path}: expects JSON, but got {constant}")

    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
        root = Node(path, "", json.loads(text, parse_constant=refuse))
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{path}: expects a file that can be read, but got: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}:{error.colno}: expects JSON, but got: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: expects text in UTF-8, but got: {error.reason} at byte {error.start}") from error
    except (ValueError, RecursionError) as error:  # numbers or nesting beyond Python's limits
        raise InputError(f"{path}: expects a report of attune-tune, but got: {error}") from error
    if not isinstance(root.value, dict) or "problems" not in root.value:
        raise root.fail("a report of attune-tune, an object with 'problems'")
    return [read_problem(problem) for problem in root["problems"].items()]


def read_reports(paths: list[str]) -> list[Problem]:
    """The problems of files in which something was tried, each with a label of its own: as short as it can be. Raises InputError."""
    problems = []
    for path in paths:
        found = read_report(path)
        if not any(problem.tried for problem in found):
            raise InputError(f"{path}: expects candidates that were tried, but got none: there is nothing to draw")
        problems += found
    stems = [pathlib.Path(problem.path).stem for problem in problems]
    for label in (
        [problem.name for problem in problems],
        stems,
        [f"{stem}:{problem.name}" for stem, problem in zip(stems, problems, strict=True)],
        [f"{problem.path}:{problem.name}" for problem in problems],
        [f"{i}:{problem.name}" for i, problem in enumerate(problems, 1)],
    ):
        if max(collections.Counter(label).values()) == 1:
            break
    for problem, text in zip(problems, label, strict=True):
        problem.label = clean(text)
    return problems


@dataclasses.dataclass(frozen=True)
class Measurement:
    """The latest of what a database has about a schedule of a problem, on a device and by a build of the compiler."""

    #: Name of the problem, and its module.
    problem: str
    text: str
    chip: str
    device: str
    compiler: str
    #: Of the chip while it was measured; what is measured in two does not compare.
    chip_state: str
    #: Values by tunables.
    schedule: dict[str, Value]
    #: "ok", or why there is no time, which `message` tells.
    status: str
    message: str
    #: Times in nanoseconds: as measured, and as predicted.
    median_ns: float | None
    score: float | None
    registers: int | None
    spill_bytes: int | None
    #: Date and time, of UTC.
    created: str


def read_database(path: str) -> list[Measurement]:
    """All measurements that count, in the order in which they were made. Raises InputError.

    The file may be in use; damaged rows are found by attune-tune's `--status`, and not here.
    """
    import sqlite3
    import urllib.parse

    columns = ["problem.name", "problem.text"]
    columns += [f"latest.{field.name}" for field in dataclasses.fields(Measurement)[len(columns) :]]
    query = f"SELECT {', '.join(columns)} FROM latest JOIN problem ON problem.key = latest.problem ORDER BY latest.id"
    # Reading, too, makes a log where there is none, but for a file that nobody changes, as on a medium that cannot be written.
    can_write = os.access(os.path.dirname(path) or ".", os.W_OK, effective_ids=True)
    mode = "mode=ro" if can_write or os.path.exists(f"{path}-wal") else "mode=ro&immutable=1"
    try:
        with contextlib.closing(sqlite3.connect(f"file:{urllib.parse.quote(path)}?{mode}", uri=True)) as database:
            rows = [Measurement(*row) for row in database.execute(query)]
            return [dataclasses.replace(row, schedule=json.loads(str(row.schedule))) for row in rows]
    except (sqlite3.Error, json.JSONDecodeError) as error:
        raise InputError(f"{path}: expects a database of attune-tune, but got: {error}") from error
