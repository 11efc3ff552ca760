# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# attune-report: what `attune-tune --json` wrote, as a page or as plots. All is
# drawn before anything is written.

import argparse
import logging
import os
import pathlib
import re
import sys
from typing import NoReturn

import export
from report import InputError, Problem, read_reports
from version import VERSION


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InputError(message)


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    parser = Parser(prog="attune-report", allow_abbrev=False,
                    description="Draws reports of attune-tune: convergence, sensitivity to knobs, failures, and "
                    "the model against measurement; of all of them a table of the best schedules.")
    parser.add_argument("--version", action="version", version=f"attune-report {VERSION}")
    parser.add_argument("reports", nargs="*", metavar="<report.json>", help="what attune-tune --json wrote")
    parser.add_argument("--format", default="html", metavar="<format>",
                        help="html: one page (default); svg, png: a file for each plot; tree, header, json: which "
                        "schedule for which sizes, as text, in C and in JSON; tsv: all candidates")
    parser.add_argument("-o", dest="output", default="-", metavar="<path>",
                        help="the file (default: the standard output), or the folder of the plots")
    parser.add_argument("--vendor", action="append", default=[], metavar="<problem>=<time>",
                        help="what another kernel takes, as <number>us, <number>ms or <number>TFLOP/s; the report has it "
                        "where attune-tune was told")
    return parser.parse_args(arguments)


def set_vendor(problems: list[Problem], text: str) -> None:
    match = re.fullmatch(r"(.+)=([0-9]+(?:\.[0-9]*)?)(us|ms|TFLOP/s)", text)
    if not match or float(match[2]) == 0:
        raise InputError(f"expects --vendor=<problem>=<number>us, <number>ms or <number>TFLOP/s, but got '{text}'")
    found = [problem for problem in problems if problem.label == match[1]]
    if not found:
        labels = ", ".join(problem.label for problem in problems)
        raise InputError(f"expects --vendor to name a problem of {labels}, but got '{match[1]}'")
    if match[3] != "TFLOP/s":
        found[0].vendor_ns = float(match[2]) * (1e3 if match[3] == "us" else 1e6)
    elif found[0].flops:
        found[0].vendor_ns = found[0].flops / float(match[2]) / 1000
    else:
        raise InputError(f"expects --vendor={match[1]}=<number>us where the report has no FLOPs, but got '{text}'")


def write(path: str, data: bytes) -> None:
    """Writes all or nothing."""
    if path == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    target = pathlib.Path(path).resolve()
    if target.exists() and not target.is_file(): # a device or a pipe stays what it is
        target.write_bytes(data)
        return
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        temporary.write_bytes(data)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def make_files(problems: list[Problem], options: argparse.Namespace) -> dict[str, bytes]:
    if options.format in export.FORMATS:
        return {options.output: export.FORMATS[options.format](problems).encode()}
    # A font cache that cannot be written is of no interest to who reads a report.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    try: # so late, for it takes a second
        import page
        import plots
    except ImportError as error:
        raise InputError(f"expects matplotlib (Debian's python3-matplotlib), but got: {error}") from error
    if options.format == "html":
        return {options.output: page.make_page(problems).encode()}
    files = {}
    for i, problem in enumerate(problems, 1):
        name = re.sub(r"[^\w.-]+", "-", problem.label)
        name = f"{i:02}-{name}" if len(problems) > 1 else name
        for plot in plots.draw(problem):
            path = os.path.join(options.output, f"{name}-{plot.name}.{options.format}")
            files[path] = plot.render(options.format)
    return files


def main(arguments: list[str]) -> int:
    try:
        options = parse_arguments(arguments)
        if not options.reports:
            raise InputError("expects a report of attune-tune, but got none")
        formats = ["html", "svg", "png", *export.FORMATS]
        if options.format not in formats:
            raise InputError(f"expects --format to be one of {', '.join(formats)}, but got '{options.format}'")
        is_folder = options.format in ("svg", "png")
        if is_folder and options.output == "-":
            raise InputError(f"expects -o <folder> with --format={options.format}, but got none")
        problems = read_reports(options.reports)
        for text in options.vendor:
            set_vendor(problems, text)
        files = make_files(problems, options)
        try:
            if is_folder:
                pathlib.Path(options.output).mkdir(exist_ok=True)
            for path, data in files.items():
                write(path, data)
        except OSError as error:
            expected = "a folder that can be written" if is_folder else "a file that can be written"
            raise InputError(f"{options.output}: expects {expected}, but got: {error.strerror}") from error
    except InputError as error:
        print(f"attune-report: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
