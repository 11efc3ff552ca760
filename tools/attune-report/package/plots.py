# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Draws a problem with matplotlib. A plot that there is no data for is left out.

import dataclasses
import io
import re

import matplotlib
from matplotlib import ticker
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure

import analysis
from report import Problem

# Both are legible on white and on black, and told apart by the colour-blind.
CANDIDATE, BEST = "#3d8fd1", "#d9822b"
FOREGROUND = "#1b1f24"
# Okabe and Ito's, for lineages; the last is for all others.
LINEAGES = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c8c8c"]

matplotlib.rcParams.update({
    "svg.fonttype": "none", # text stays text
    "svg.hashsalt": "attune-report", # the same report gives the same bytes
    "text.parse_math": False, # a `$` in a name is a dollar
    "font.size": 9, "axes.titlesize": 10, "axes.spines.top": False, "axes.spines.right": False,
    "text.color": FOREGROUND, "axes.edgecolor": FOREGROUND, "axes.labelcolor": FOREGROUND,
    "xtick.color": FOREGROUND, "ytick.color": FOREGROUND})


@dataclasses.dataclass
class Plot:
    """`name` is a part of a file's name; `title` says what is seen, in words."""
    name: str
    title: str
    figure: Figure

    def render(self, image_format: str) -> bytes:
        data = io.BytesIO()
        metadata = {"Title": self.title}
        if image_format == "svg":
            metadata["Date"] = None
        self.figure.savefig(data, format=image_format, dpi=150, bbox_inches="tight", metadata=metadata)
        return data.getvalue()

    def render_inline(self, prefix: str) -> str:
        """SVG as a part of a page: in the page's colours, with ids of its own."""
        self.figure.patch.set_visible(False)
        for axes in self.figure.axes:
            axes.patch.set_visible(False)
        svg = self.render("svg").decode()
        svg = svg[svg.index("<svg"):].replace(FOREGROUND, "currentColor").replace("<svg ", '<svg role="img" ', 1)
        svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
        return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", svg)


def start(title: str, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(8, height))
    axes = figure.add_subplot()
    axes.set_title(title, loc="left")
    return figure, axes


def set_log(axes: Axes, axis: Axis, values: list[float]) -> None:
    """A logarithmic scale with plain numbers, however short it is."""
    low, high = min(values) * 0.95, max(values) * 1.05
    set_scale, set_limits = ((axes.set_xscale, axes.set_xlim) if axis is axes.xaxis else
                             (axes.set_yscale, axes.set_ylim))
    set_scale("log")
    set_limits(low, high)
    narrow = high / low < 8
    axis.set_major_locator(ticker.MaxNLocator(8, steps=[1, 2, 5, 10]) if narrow else ticker.LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(ticker.NullLocator())


def draw_convergence(problem: Problem) -> list[Plot]:
    times = analysis.get_times(problem)
    if not times:
        return []
    best = analysis.get_convergence(times)
    title = f"Convergence: {best[-1]:.1f} us after {len(problem.results)} candidates, {len(times)} of them timed"
    figure, axes = start(title, 3.5)
    numbers = [number for number, _ in times]
    axes.plot(numbers, [time for _, time in times], ".", color=CANDIDATE, label="candidate")
    axes.step(numbers + [len(problem.results)], best + best[-1:], where="post", color=BEST, label="best so far")
    lines = [time for _, time in times]
    default = problem.default.median_ns if problem.default else None
    for name, nanoseconds, style in [("default schedule", default, "--"), ("vendor", problem.vendor_ns, ":")]:
        if nanoseconds:
            lines.append(nanoseconds / 1000)
            axes.axhline(lines[-1], color=FOREGROUND, linestyle=style, linewidth=1, label=name)
    set_log(axes, axes.yaxis, lines)
    axes.set_xlabel("candidate, in the order of completion")
    axes.set_ylabel("median time, us")
    axes.legend(frameon=False)
    return [Plot("convergence", title, figure)]


def draw_lineages(problem: Problem) -> list[Plot]:
    lineages = [lineage for lineage in analysis.get_lineages(problem) if lineage.times]
    if not lineages:
        return []
    title = f"Lineages: {len(lineages)} of them with times"
    figure, axes = start(title, 3.5)
    shown = len(LINEAGES) - 1
    # The fastest are drawn last, and so are seen.
    for i, lineage in reversed(list(enumerate(lineages))):
        label = lineage.name if i < shown else "others" if i == shown else None
        axes.plot(*zip(*lineage.times), ".", color=LINEAGES[min(i, shown)], label=label)
    times = analysis.get_times(problem)
    axes.step([number for number, _ in times], analysis.get_convergence(times), where="post", color=FOREGROUND,
              linewidth=1, label="best so far")
    set_log(axes, axes.yaxis, [time for _, time in times])
    axes.set_xlabel("candidate, in the order of completion")
    axes.set_ylabel("median time, us")
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], labels[::-1], frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.18), fontsize=7)
    return [Plot("lineages", title, figure)]


def draw_sensitivity(problem: Problem) -> list[Plot]:
    knobs, _ = analysis.get_knobs(problem)
    if not knobs:
        return []
    kind = "time" if problem.timed else "predicted time"
    title = f"Sensitivity to knobs: {kind} over the winner's, for each value"
    rows = sum(len(knob.values) for knob in knobs)
    figure, axes = start(title, 1 + 0.17 * (rows + len(knobs)))
    y, labels, costs_of_all = 0, {}, []
    for knob in knobs:
        for value, costs in knob.values.items():
            axes.plot(costs, [y] * len(costs), "|", color=CANDIDATE, alpha=0.6)
            axes.plot(costs[0], y, "o", color=BEST, markersize=4)
            labels[y] = f"{knob.name} = {value}"
            costs_of_all += costs
            y += 1
        axes.axhline(y, color=FOREGROUND, linewidth=0.3)
        y += 1
    axes.set_yticks(list(labels), list(labels.values()), parse_math=False)
    axes.set_ylim(y - 0.5, -1)
    set_log(axes, axes.xaxis, costs_of_all)
    axes.set_xlabel(f"{kind} / best (dot: the best candidate of the value)")
    return [Plot("sensitivity", title, figure)]


def draw_failures(problem: Problem) -> list[Plot]:
    if not problem.statuses:
        return []
    failed = sum(count for status, count in problem.statuses.items() if status != "ok")
    title = f"Failures: {failed} of {problem.tried} candidates"
    figure, axes = start(title, 0.8 + 0.3 * len(problem.statuses))
    names, counts = list(problem.statuses), list(problem.statuses.values())
    bars = axes.barh(names, counts, color=[CANDIDATE if name == "ok" else BEST for name in names])
    axes.bar_label(bars, padding=3)
    axes.invert_yaxis()
    axes.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
    axes.set_xlabel("candidates")
    return [Plot("failures", title, figure)]


def draw_model(problem: Problem) -> list[Plot]:
    pairs = analysis.get_predictions(problem)
    if not pairs:
        return []
    correlation = analysis.correlate_ranks(pairs)
    title = (f"Model against measurement: Spearman's rank correlation "
             f"{'-' if correlation is None else f'{correlation:.2f}'} of {len(pairs)} candidates")
    figure, axes = start(title, 5)
    measured, predicted = (list(times) for times in zip(*pairs))
    set_log(axes, axes.xaxis, measured)
    set_log(axes, axes.yaxis, predicted)
    axes.plot(measured, predicted, ".", color=CANDIDATE, label="candidate")
    low, high = max(min(measured), min(predicted)), min(max(measured), max(predicted))
    if low < high:
        axes.plot([low, high], [low, high], color=BEST, linewidth=1, label="predicted = measured")
    axes.set_xlabel("measured, us")
    axes.set_ylabel("predicted, us")
    axes.legend(frameon=False)
    return [Plot("model", title, figure)]


def draw_front(problem: Problem) -> list[Plot]:
    points, front = analysis.get_front(problem)
    if not points:
        return []
    title = f"Time and energy: {len(front)} of {len(points)} candidates are on the Pareto front"
    figure, axes = start(title, 4)
    axes.plot(*zip(*points), ".", color=CANDIDATE, label="candidate")
    axes.plot(*zip(*front), "o-", color=BEST, markersize=4, linewidth=1, drawstyle="steps-post", label="Pareto front")
    for name, result, marker in [("default schedule", problem.default, "s"), ("best", problem.best, "*")]:
        if result and result.status == "ok" and result.median_ns and result.energy_j:
            axes.plot(result.median_ns / 1000, result.energy_j, marker, markersize=9, markerfacecolor="none",
                      color=FOREGROUND, linestyle="none", label=name if name != "best" else f"best by {problem.objective}")
    set_log(axes, axes.xaxis, [time for time, _ in points])
    set_log(axes, axes.yaxis, [energy for _, energy in points])
    axes.set_xlabel("median time, us")
    axes.set_ylabel("energy of a launch, J")
    axes.legend(frameon=False)
    return [Plot("front", title, figure)]


def draw(problem: Problem) -> list[Plot]:
    return [plot for function in (draw_convergence, draw_lineages, draw_front, draw_sensitivity, draw_failures,
                                              draw_model)
            for plot in function(problem)]
