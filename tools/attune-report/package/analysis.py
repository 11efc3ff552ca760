# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What the plots and tables show, as numbers.

import dataclasses
import itertools
import statistics
from typing import Optional

from report import Problem, Value


@dataclasses.dataclass
class Knob:
    """For each value the costs of its candidates, relative to the winner's and
    ascending: the figure of lib/Tuning/Sensitivity.h."""
    name: str
    values: dict[Value, list[float]]

    @property
    def effect(self) -> float:
        """How much slower the best candidate of the worst value is."""
        return max(costs[0] for costs in self.values.values())


def order(value: Value) -> tuple[bool, Value]:
    """Numbers first."""
    return isinstance(value, str), value


def get_knobs(problem: Problem) -> tuple[list[Knob], list[str]]:
    """The knobs by falling effect, and the names of those that never varied."""
    costs = [(result, cost) for result in problem.results if (cost := problem.cost(result))]
    # Times of the final decide who wins; others may have been taken in a faster minute.
    best = problem.cost(problem.best) if problem.best else None
    best = best or min((cost for _, cost in costs), default=0.0)
    names = sorted({name for result, _ in costs for name in result.schedule})
    knobs, constant = [], []
    for name in names:
        values: dict[Value, list[float]] = {}
        for result, cost in costs:
            if name in result.schedule:
                values.setdefault(result.schedule[name], []).append(cost / best)
        if len(values) == 1:
            constant.append(name)
        else:
            knobs.append(Knob(name, {value: sorted(values[value]) for value in sorted(values, key=order)}))
    return sorted(knobs, key=lambda knob: -knob.effect), constant


def get_times(problem: Problem) -> list[tuple[int, float]]:
    """The numbers, from 1, of the timed candidates, and their times in us."""
    return [(number, result.median_ns / 1000) for number, result in enumerate(problem.results, 1)
            if result.status == "ok" and result.median_ns]


def get_convergence(times: list[tuple[int, float]]) -> list[float]:
    return list(itertools.accumulate((time for _, time in times), min))


@dataclasses.dataclass
class Lineage:
    """Candidates of one idea, by their numbers from 1. `origins` are the
    lineages that its members took something from, and how often."""
    name: str
    numbers: list[int]
    times: list[tuple[int, float]]
    steps: dict[str, int]
    origins: dict[str, int]

    @property
    def best(self) -> Optional[float]:
        return min((time for _, time in self.times), default=None)


def get_lineages(problem: Problem) -> list[Lineage]:
    """The fastest first; empty where the search had no ideas to tell of."""
    times = dict(get_times(problem))
    lineages: dict[str, Lineage] = {}
    for number, result in enumerate(problem.results, 1):
        if not result.origin:
            continue
        name = result.origin.lineage
        lineage = lineages.setdefault(name, Lineage(name, [], [], {}, {}))
        lineage.numbers.append(number)
        lineage.steps[result.origin.step] = lineage.steps.get(result.origin.step, 0) + 1
        if number in times:
            lineage.times.append((number, times[number]))
        for parent in result.origin.parents:
            origin = problem.results[parent].origin
            if origin and origin.lineage != name:
                lineage.origins[origin.lineage] = lineage.origins.get(origin.lineage, 0) + 1
    return sorted(lineages.values(), key=lambda lineage: (lineage.best is None, lineage.best or 0, lineage.numbers[0]))


def get_front(problem: Problem) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Time in us and energy in J of the results that have both, and of these the
    Pareto front: those to which no other is better in one and as good in the
    other, by rising time."""
    points = sorted((result.median_ns / 1000, result.energy_j) for result in problem.results
                    if result.status == "ok" and result.median_ns and result.energy_j)
    front: list[tuple[float, float]] = []
    for time, energy in points:
        if not front or energy < front[-1][1]:
            front.append((time, energy))
    return points, front


def get_predictions(problem: Problem) -> list[tuple[float, float]]:
    """Measured and predicted times in us."""
    return [(result.median_ns / 1000, result.score / 1000) for result in problem.results
            if result.status == "ok" and result.median_ns and result.score]


def rank(values: list[float]) -> list[float]:
    """The ranks, where equal values share the mean of theirs."""
    ordered = sorted(values)
    first = {value: i for i, value in reversed(list(enumerate(ordered)))}
    last = {value: i for i, value in enumerate(ordered)}
    return [(first[value] + last[value]) / 2 for value in values]


def correlate_ranks(pairs: list[tuple[float, float]]) -> Optional[float]:
    """Spearman's rank correlation, or None where it is not defined."""
    if len(pairs) < 2 or any(len(set(values)) == 1 for values in zip(*pairs)):
        return None
    first, second = (rank(list(values)) for values in zip(*pairs))
    return statistics.correlation(first, second)


def get_speedup(problem: Problem) -> Optional[float]:
    """How many times as fast as the default schedule the best one is."""
    best, default = problem.best, problem.default
    if not (problem.timed and best and default and best.median_ns and default.median_ns):
        return None
    return default.median_ns / best.median_ns if default.status == "ok" else None


def get_transfers(problems: list[Problem]) -> list[tuple[Problem, Problem, Optional[float]]]:
    """Pairs of reports of one problem on two chips: the first one's best schedule
    takes so many times as long as the other one's best, on the other chip; None
    where it was not timed there."""
    transfers = []
    for problem, other in itertools.permutations(problems, 2):
        if not problem.kind or (problem.kind, problem.sizes) != (other.kind, other.sizes):
            continue
        if problem.chip == other.chip or problem.state != other.state or not (problem.best and other.best and other.best.median_ns):
            continue
        times = [result.median_ns for result in other.results
                 if result.status == "ok" and result.median_ns and result.schedule == problem.best.schedule]
        transfers.append((problem, other, min(times) / other.best.median_ns if times else None))
    return transfers


def get_gaps(problem: Problem) -> list[str]:
    """Sentences that say what cannot be shown, and why."""
    if problem.executed:
        return ["Candidates were executed on the CPU and nothing was timed: convergence, sensitivity and the model "
                "are missing, and only failures are listed."]
    if not problem.timed:
        return ["Nothing was timed, for there was no device: convergence and the model against measurement are "
                "missing, and sensitivity is that of predicted times."]
    gaps = []
    if not get_times(problem):
        gaps.append("No candidate was timed: convergence, sensitivity and the model are missing.")
    elif not get_predictions(problem):
        gaps.append("No candidate has a prediction (the search ran without a model): the model is missing.")
    if get_times(problem) and not (problem.default and problem.default.median_ns):
        gaps.append("The default schedule was not timed: its line and the speed over it are missing.")
    return gaps
