# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Which schedule for which sizes: a small decision tree over problems that
# differ in sizes alone, and what it costs on sizes that it was not made from.

import dataclasses
import math
import os
import re
from typing import Optional, Union

from report import InputError, Problem, Value

# What a tree may ask for, and how it is computed from a problem's sizes.
FEATURES = {
    "seq-q": ("seq-q",),
    "seq-k": ("seq-k",),
    "batch * heads": ("batch", "heads"),
}


@dataclasses.dataclass(frozen=True)
class Shape:
    """A problem of known sizes, with the times of its schedules in nanoseconds."""
    label: str
    sizes: dict[str, int]
    times: dict[str, float]

    @property
    def best(self) -> float:
        return min(self.times.values())

    def feature(self, name: str) -> int:
        return math.prod(self.sizes[size] for size in FEATURES[name])

    def regret(self, schedule: str) -> Optional[float]:
        """How much slower than the best a schedule is; None where it was not timed."""
        time = self.times.get(schedule)
        return None if time is None else time / self.best - 1


@dataclasses.dataclass(frozen=True)
class Leaf:
    schedule: str
    shapes: list[Shape]

    @property
    def worst(self) -> float:
        return max(shape.regret(self.schedule) or 0 for shape in self.shapes)


@dataclasses.dataclass(frozen=True)
class Split:
    """Left where the feature is at most the limit."""
    feature: str
    limit: int
    left: "Tree"
    right: "Tree"


Tree = Union[Leaf, Split]


@dataclasses.dataclass
class Group:
    """Problems of one kind on one device in one state, the schedules by text, and the tree."""
    name: str
    kind: str
    chip: str
    device: str
    shapes: list[Shape]
    schedules: dict[str, dict[str, Value]]
    tree: Tree
    # The regret of a tree that was made without a shape, on that shape: None
    # where its schedule was never timed there.
    held_out: list[tuple[Shape, Optional[float]]]


def schedule_text(schedule: dict[str, Value]) -> str:
    """As attune-set-schedule and --schedule take it."""
    return " ".join(f"{knob}={value}" for knob, value in schedule.items())


def pick_leaf(shapes: list[Shape]) -> Optional[Leaf]:
    """The schedule with the least regret, of those that were timed for all."""
    common = set.intersection(*(set(shape.times) for shape in shapes))
    if not common:
        return None
    cost = {text: sum(math.log(shape.times[text] / shape.best) for shape in shapes) for text in common}
    return Leaf(min(sorted(common), key=cost.__getitem__), shapes)


def cost_of(leaf: Optional[Leaf]) -> tuple[int, float]:
    """How bad a leaf is: first whether there is none, then the sum of its regrets."""
    if not leaf:
        return 1, 0.0
    return 0, sum(math.log1p(shape.regret(leaf.schedule) or 0) for shape in leaf.shapes)


def find_split(shapes: list[Shape]) -> Optional[tuple[str, int]]:
    best = None
    for feature in FEATURES:
        values = sorted({shape.feature(feature) for shape in shapes})
        for low, high in zip(values, values[1:]):
            limit = math.isqrt(low * high)
            left, right = (cost_of(pick_leaf(side)) for side in divide(shapes, feature, limit))
            cost = left[0] + right[0], left[1] + right[1]
            if best is None or cost < best[0]:
                best = cost, feature, limit
    return best[1:] if best else None


def divide(shapes: list[Shape], feature: str, limit: int) -> tuple[list[Shape], list[Shape]]:
    left = [shape for shape in shapes if shape.feature(feature) <= limit]
    return left, [shape for shape in shapes if shape.feature(feature) > limit]


def grow(shapes: list[Shape], slack: float) -> Tree:
    """Splits until no shape loses more than `slack` to its best schedule."""
    leaf = pick_leaf(shapes)
    if leaf and leaf.worst <= slack:
        return leaf
    split = find_split(shapes)
    if not split:
        # Equal sizes, but nothing was timed for all: the first decides.
        return leaf or pick_leaf(shapes[:1])
    left, right = divide(shapes, *split)
    return Split(*split, grow(left, slack), grow(right, slack))


def route(tree: Tree, shape: Shape) -> str:
    while isinstance(tree, Split):
        tree = tree.left if shape.feature(tree.feature) <= tree.limit else tree.right
    return tree.schedule


def hold_out(shapes: list[Shape], slack: float) -> list[tuple[Shape, Optional[float]]]:
    if len(shapes) < 2:
        return []
    return [(shape, shape.regret(route(grow([other for other in shapes if other is not shape], slack), shape)))
            for shape in shapes]


def name_group(labels: list[str], number: int) -> str:
    """What the labels begin with, as an identifier."""
    prefix = os.path.commonprefix(labels) if len(labels) > 1 else labels[0]
    name = re.sub(r"\W+", "_", prefix if len(labels) == 1 else prefix.rstrip("0123456789")).strip("_")
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else f"attention_{number}"


def make_groups(problems: list[Problem], slack: float) -> list[Group]:
    found: dict[tuple[str, str, str], list[Problem]] = {}
    for problem in problems:
        missing = sorted({size for sizes in FEATURES.values() for size in sizes} - set(problem.sizes))
        if not problem.kind or missing:
            raise InputError(f"{problem.path}: expects the kind and sizes of '{problem.label}', but got none of "
                             f"{', '.join(missing) or 'its kind'}; tune it again, with --size where it is dynamic")
        if problem.timed and any(result.median_ns for result in problem.results):
            found.setdefault((problem.kind, problem.chip, problem.place), []).append(problem)
    if not found:
        raise InputError("expects a problem with times, but got none: without times there is nothing to choose from")
    groups: list[Group] = []
    for (kind, chip, device), members in found.items():
        schedules, shapes = {}, {}
        for problem in members:
            times: dict[str, float] = {}
            for result in problem.results:
                if result.status == "ok" and result.median_ns:
                    text = schedule_text(result.schedule)
                    schedules[text] = result.schedule
                    times[text] = min(result.median_ns, times.get(text, math.inf))
            # Searches of the same problem are one shape.
            key = tuple(sorted(problem.sizes.items()))
            if key in shapes:
                times = {text: min(known.get(text, math.inf) for known in (times, shapes[key].times))
                         for text in times | shapes[key].times}
            shapes[key] = Shape(problem.label, problem.sizes, times)
        ordered = sorted(shapes.values(), key=lambda shape: [shape.feature(name) for name in FEATURES])
        name = name_group([problem.label for problem in members], len(groups) + 1)
        if any(group.name == name for group in groups):
            name += f"_{len(groups) + 1}"
        groups.append(Group(name, kind, chip, device, ordered, schedules, grow(ordered, slack),
                            hold_out(ordered, slack)))
    return groups
