# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# One HTML page with everything in it: no script, no network, the colours of the
# reader's system. Each plot has its numbers beside it, as a table or a title.

import statistics
from collections.abc import Iterable
from html import escape
from typing import Optional

import analysis
import plots
from report import Problem, Result

STYLE = """
:root { color-scheme: light dark; }
body { background: Canvas; color: CanvasText; font: 15px/1.5 system-ui, sans-serif; max-width: 90rem;
       margin: 2rem auto; padding: 0 1rem; }
svg { max-width: min(100%, 70rem); height: auto; fill: currentColor; }
figure { margin: 1rem 0; }
div.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 14px; margin: 1rem 0; }
caption { text-align: left; font-weight: 600; }
th, td { text-align: left; vertical-align: top; padding: 0.15rem 0.7rem; border-bottom: 1px solid GrayText; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.long { min-width: 24rem; }
summary { font-size: 1.2rem; font-weight: 600; margin: 1rem 0; cursor: pointer; }
"""

# Columns on what the chip was like.
CONDITIONS = ["state", "MHz", "limited by", "W", "pJ/FLOP"]

# The column of what a model says of the main loop as machine code.
LOOP = "loop, FLOP a clock and SM"

# Letters of a cell that a narrow column would break into many lines.
LONG_TEXT = 30


def table(caption: str, head: list[str], rows: Iterable[list[Optional[str]]], texts: set[str]) -> str:
    """Cells of the columns `texts` are aligned as words, and get room for some,
    all others as numbers; None is what is not known."""
    def style(name: str, cell: Optional[str]) -> str:
        if name not in texts:
            return " class=number"
        return " class=long" if cell and len(cell) > LONG_TEXT else ""

    lines = [f'<div class="wide"><table><caption>{escape(caption)}</caption>',
             "<tr>" + "".join(f'<th scope="col">{escape(name)}</th>' for name in head) + "</tr>"]
    for row in rows:
        cells = (f"<td{style(name, cell)}>{escape('-' if cell is None else cell)}</td>"
                 for name, cell in zip(head, row))
        lines.append("<tr>" + "".join(cells) + "</tr>")
    return "\n".join(lines + ["</table></div>"])


def number(value: Optional[float], digits: int, suffix: str = "") -> Optional[str]:
    return None if value is None else f"{value:.{digits}f}{suffix}"


def schedule_text(result: Result, default: Optional[Result]) -> str:
    """The knobs, or those that are not as in the default schedule."""
    known = default.schedule if default else {}
    return " ".join(f"{name}={value}" for name, value in result.schedule.items()
                    if known.get(name) != value) or "the default"


def throttle_text(result: Result) -> Optional[str]:
    """What kept the clock down, or that nothing did."""
    return None if result.throttle_reasons is None else ", ".join(result.throttle_reasons) or "nothing"


def condition_cells(problem: Problem) -> list[Optional[str]]:
    best = problem.best
    if not problem.state or not best:
        return [None] * 5
    state = problem.state + (", not settled" if best.settled is False else "")
    return [state, number(best.clock_mhz, 0), throttle_text(best), number(best.mean_power_w, 0),
            number(best.pj_per_flop, 3)]


def front_table(problem: Problem) -> str:
    _, front = analysis.get_front(problem)
    shown = {(result.median_ns / 1000, result.energy_j): result for result in problem.results
             if result.status == "ok" and result.median_ns and result.energy_j}
    rows = [[schedule_text(result, problem.default), number(time, 1), number(energy, 4),
             number(result.mean_power_w, 0), number(result.pj_per_flop, 3), number(result.clock_mhz, 0),
             throttle_text(result)] for time, energy in front for result in [shown[time, energy]]]
    head = ["schedule, where it is not the default's", "us", "J", "W", "pJ/FLOP", "MHz", "limited by"]
    return table("The Pareto front of time and energy", head, rows, {head[0], head[-1]})


def winner_row(problem: Problem) -> list[Optional[str]]:
    best = problem.best
    nanoseconds = best.median_ns if best else None
    refused = problem.statuses.get("refused", 0)
    over_vendor = problem.vendor_ns / nanoseconds if problem.vendor_ns and nanoseconds else None
    return [problem.label, problem.chip, schedule_text(best, problem.default) if best else None,
            number(nanoseconds / 1000 if nanoseconds else None, 1),
            number(problem.tflops(nanoseconds) if nanoseconds else None, 1),
            number(analysis.get_speedup(problem), 2, "x"),
            number(problem.vendor_ns / 1000 if problem.vendor_ns else None, 1), number(over_vendor, 2, "x"),
            *condition_cells(problem), number(best.registers if best else None, 0), number(best.spill_bytes if best else None, 0),
            number(best.loop_flops_per_clock if best else None, 0),
            str(problem.tried), str(len(analysis.get_times(problem))), str(refused),
            str(problem.tried - refused - problem.statuses.get("ok", 0))]


def winners(problems: list[Problem]) -> str:
    head = ["problem", "chip", "best schedule, where it is not the default's", "us", "TFLOP/s", "over default",
            "vendor us", "over vendor", *CONDITIONS, "registers", "spill bytes", LOOP, "tried", "timed", "refused", "failed"]
    rows = [winner_row(problem) for problem in problems]
    # Without --vendor nobody asks for its columns, and without a state or a model of loops there are none of these.
    keep = [i for i, name in enumerate(head)
            if ("vendor" not in name and name not in (*CONDITIONS, LOOP)) or any(row[i] for row in rows)]
    return table("Best schedules", [head[i] for i in keep], [[row[i] for i in keep] for row in rows],
                 {*head[:3], "state", "limited by"})


def loops(problems: list[Problem]) -> str:
    """What bounds the main loops of the best kernels, where a model says so."""
    known = [(problem, problem.best.loop_terms) for problem in problems if problem.best and problem.best.loop_terms]
    if not known:
        return ""
    names = sorted(set().union(*(terms for _, terms in known)))
    rows = [[problem.label, problem.chip, *(number(terms.get(name), 0) for name in names)] for problem, terms in known]
    head = ["problem", "chip", *(name.replace("_", " ") for name in names)]
    return table("Main loops of the best schedules, by the model", head, rows, set(head[:2]))


def sensitivity_table(problem: Problem) -> str:
    knobs, constant = analysis.get_knobs(problem)
    rows = [[knob.name, str(value), str(len(costs)), f"{costs[0]:.3f}", f"{statistics.median(costs):.3f}"]
            for knob in knobs for value, costs in knob.values.items()]
    text = table("Knobs, those of the largest effect first; times are over the winner's",
                 ["knob", "value", "candidates", "best", "median"], rows, {"knob"}) if rows else ""
    if constant:
        text += f"\n<p>Never varied, and left out: {escape(', '.join(constant))}.</p>"
    return text


def lineage_table(problem: Problem) -> str:
    def count(names: dict[str, int]) -> Optional[str]:
        return ", ".join(f"{name} {number}" for name, number in names.items()) or None

    rows = [[lineage.name, str(len(lineage.numbers)), str(len(lineage.times)), number(lineage.best, 1),
             f"{lineage.numbers[0]}..{lineage.numbers[-1]}", count(lineage.steps), count(lineage.origins)]
            for lineage in analysis.get_lineages(problem)]
    head = ["lineage", "candidates", "timed", "best us", "from..to", "steps", "took from"]
    return table("Lineages, the fastest first", head, rows, {"lineage", "steps", "took from"})


def failure_table(problem: Problem) -> str:
    messages: dict[str, str] = {}
    for result in problem.results:
        if result.status != "ok":
            messages.setdefault(result.status, result.message.split("\n")[0])
    rows = [[status, str(count), messages.get(status) or None] for status, count in problem.statuses.items()
            if status != "ok"]
    illegal, skipped = ([[rule, str(count), message] for rule, (count, message) in rules.items()]
                        for rules in (problem.illegal, problem.skipped))
    head, texts = ["class", "count", "first message"], {"class", "first message"}
    return "\n".join(table(caption, head, lines, texts) for caption, lines in
                     [("Candidates that failed or were refused", rows),
                      ("Schedules that were never tried, by the rule that they break", illegal),
                      ("Legal schedules that were never tried, by why they are not worth it", skipped)] if lines)


def section(problem: Problem, index: int, is_open: bool) -> str:
    lines = [f"<details{' open' if is_open else ''}><summary>{escape(problem.label)}</summary>",
             f"<p>{escape(problem.name)} on {escape(problem.chip)}, device {escape(problem.device or 'none')}, "
             f"from {escape(problem.path)}: {problem.tried} schedules tried"
             f"{f', measured {escape(problem.state)}' if problem.state else ''}.</p>"]
    lines += [f"<p>{escape(gap)}</p>" for gap in analysis.get_gaps(problem)]
    if problem.best:
        kind = "Best" if problem.timed else "Best by model"
        lines.append(f"<p>{kind}: <code>{escape(schedule_text(problem.best, None))}</code></p>")
    tables = {"lineages": lineage_table, "front": front_table, "sensitivity": sensitivity_table, "failures": failure_table}
    for plot in plots.draw(problem):
        lines.append(f"<figure>{plot.render_inline(f'{plot.name}-{index}')}</figure>")
        if plot.name in tables:
            lines.append(tables[plot.name](problem))
    return "\n".join(lines + ["</details>"])


def other_chips(problems: list[Problem]) -> str:
    """Why no schedule is carried to another chip; empty with one chip."""
    rows = [[problem.label, problem.chip, other.chip, number(ratio, 3)]
            for problem, other, ratio in analysis.get_transfers(problems)]
    return table("Best schedules on other chips: how many times as long as the best there",
                 ["problem", "best on", "taken on", "ratio"], rows, {"problem", "best on", "taken on"}) if rows else ""


def make_page(problems: list[Problem]) -> str:
    return "\n".join([
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Search report: {escape(', '.join(problem.label for problem in problems))}</title>",
        f"<style>{STYLE}</style>\n</head>\n<body>\n<h1>Search report</h1>", winners(problems), loops(problems),
        other_chips(problems),
        *(section(problem, i, len(problems) <= 3) for i, problem in enumerate(problems, 1)),
        "</body>\n</html>\n"])
