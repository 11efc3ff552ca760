# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs the commands of a page, as they are printed and in their order, in a
# folder of their own with no GPU in sight.
#
#   commands.py <source> <build> <page> <scratch> [<name>=<file>...]    prints a line for each command
#   commands.py <source> --pages                                        checks that each page is known
#
# The files are those that a page takes for granted, under its names.
# A command is what stands in a fence without a language, up to the end of its
# quotes, pipes and continued lines. It has to succeed, unless a rule of the page
# says how it fails without a GPU, or why it cannot be run. Searches are cut
# short: each tries two candidates.

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys


@dataclasses.dataclass
class Rule:
    """What becomes of the commands that begin so."""
    begin: str
    reason: str
    # Nothing: the command is not run.
    exit_code: int | None = None
    output: str = ""


@dataclasses.dataclass
class Page:
    # What the page takes for granted, by the names that it uses.
    files: dict[str, str] = dataclasses.field(default_factory=dict)
    rules: list[Rule] = dataclasses.field(default_factory=list)


NO_CHIP = "error: expects --chip where there is no device"
NO_GPU = "a GPU is timed"

PAGES = {
    "README.md": Page(
        {"model.mlir": "examples/mha_causal.mlir", "tuned.mlir": "tuning/sm_90a.mlir"},
        [Rule("make ", "installs and builds"),
         Rule("attune-gen --op=attention --batch=4", "runs on a GPU", 1, "note: --device=host executes a kernel on the CPU"),
         Rule("attune-tune examples/mha_causal.mlir", NO_GPU, 1, NO_CHIP)]),
    "CONTRIBUTING.md": Page(
        {"wrong.mlir": "test/Docs/Inputs/wrong.mlir"},
        [Rule("scripts/install-dependencies.sh", "installs"), Rule("cmake ", "configures"), Rule("ninja ", "builds"),
         Rule("build-asan/", "needs another build"),
         Rule("/usr/lib/llvm-22/bin/lit ", "runs tests, as this one is"),
         Rule("build/bin/attune-bisect wrong.mlir", "the kernel is wrong", 2, "is the pass after which the results are wrong"),
         Rule("build/bin/attune-run found/after.mlir", "the kernel is wrong", 2, "WRONG")]),
    "docs/Embedding.md": Page(
        {}, [Rule("cmake --install", "writes to /opt"), Rule("// RUN: ", "is a line of a test")]),
    "docs/Matmul.md": Page(),
    "examples/plugin/README.md": Page(),
    "examples/runtime/README.md": Page(
        {}, [Rule("runtime/kernel-info ", "needs a GPU", 1, "no CUDA device")]),
    "examples/tool/README.md": Page(),
    "docs/Raising.md": Page(
        {"model.mlir": "test/Docs/Inputs/spelled-out.mlir"}, [Rule("remark:", "is what a tool prints")]),
    "docs/Tuning.md": Page(
        {"mha.mlir": "examples/mha_causal.mlir", "lengths.mlir": "examples/mha_causal.mlir", "model.mlir": "examples/mha_causal.mlir",
         "mine.mlir": "tuning/sm_90a.mlir", "mha.json": "test/Tools/attune-report/Inputs/timed.json",
         "decode.json": "test/Tools/attune-report/Inputs/timed.json", "lengths.json": "test/Tools/attune-report/Inputs/sizes.json"},
        [Rule("salloc ", "needs a cluster"),
         Rule("matmul_space.mlir:9:10: remark:", "is what a tool prints"),
         Rule("attune-tune mha.mlir --db=tuning.db --launcher", "needs a cluster", 1, NO_CHIP),
         Rule("attune-tune mha.mlir --db", NO_GPU, 1, NO_CHIP),
         Rule("attune-tune lengths.mlir", NO_GPU, 1, NO_CHIP),
         Rule("attune-run amd.mlir --device=hip", "needs an AMD GPU", 1, "no HIP device"),
         Rule("attune-tune amd.mlir --device=hip", "needs an AMD GPU", 1, "no HIP device"),
         Rule("attune-tune --status --db=sent.db", "is for what was sent", 1, "sent.db"),
         Rule("attune-tune sent.db", "is for what was sent", 1, "sent.db"),
         Rule("sqlite3 ", "its shell is no dependency")]),
}


def is_whole(text: str) -> bool:
    return not text.endswith(("\\", "|")) and text.count('"') % 2 == 0 and text.count("'") % 2 == 0


def find_commands(page: str) -> list[str]:
    commands = []
    # Text and fences alternate.
    for fence in re.split(r"^```", page, flags=re.MULTILINE)[1::2]:
        language, _, body = fence.partition("\n")
        command = ""
        for line in body.splitlines() if not language else []:
            command += re.sub(r"\s{2,}#.*", "", line) + "\n"
            if command.strip() and is_whole(command.rstrip()):
                commands.append(command.strip())
                command = ""
        assert not command.strip(), f"expects the end of a command, but got '{command}'"
    return commands


def shorten(command: str) -> str:
    if not command.startswith("attune-tune"):
        return command
    return re.sub(r" --budget=\S+", "", command) + " --budget=2"


def make_scratch(source: pathlib.Path, build: pathlib.Path, page: Page, scratch: pathlib.Path) -> dict[str, str]:
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    for folder in ("examples", "tuning"):
        (scratch / folder).symlink_to(source / folder)
    (scratch / "build").symlink_to(build)
    for name, origin in page.files.items():
        shutil.copy(source / origin, scratch / name)
    hidden = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "ROCR_VISIBLE_DEVICES": ""}
    # As where the package is installed for the system.
    found = {"LIBRARY_PATH": f"{build}/lib", "C_INCLUDE_PATH": f"{source}/include"}
    return os.environ | hidden | found | {"PATH": f"{build}/bin:{os.environ['PATH']}"}


def run_page(source: pathlib.Path, build: pathlib.Path, name: str, scratch: pathlib.Path, given: list[str]) -> int:
    page = PAGES[name]
    environment = make_scratch(source, build, page, scratch)
    for file in given:
        title, _, path = file.partition("=")
        (scratch / title).symlink_to(path)
    used, failed = set(), 0
    for command in find_commands((source / name).read_text(encoding="utf-8")):
        title = command.splitlines()[0]
        rule = next((rule for rule in page.rules if command.startswith(rule.begin)), Rule("", "", 0))
        used.add(rule.begin)
        if rule.exit_code is None:
            print(f"not run: {title} ({rule.reason})")
            continue
        done = subprocess.run(["bash", "-o", "pipefail", "-c", shorten(command)], cwd=scratch, env=environment, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        right = done.returncode == rule.exit_code and rule.output in done.stdout
        failed += not right
        print(f"{'right' if right else 'WRONG'}: {title}", flush=True)
        if not right:
            print(f"expects exit code {rule.exit_code} and '{rule.output}', but got {done.returncode} and\n{done.stdout}")
    for rule in page.rules:
        if rule.begin not in used:
            print(f"expects a command that begins with '{rule.begin}', but there is none")
            failed += 1
    return failed != 0


def check_pages(source: pathlib.Path) -> int:
    folders = (".", "docs", "docs/measurements", "docs/rationale", "examples/*")
    pages = [path.relative_to(source) for folder in folders for path in source.glob(f"{folder}/*.md")]
    unknown = [str(page) for page in pages
               if find_commands((source / page).read_text(encoding="utf-8")) and str(page) not in PAGES]
    print("pages without a test of their commands:", ", ".join(unknown) or "none")
    return len(unknown) != 0


if __name__ == "__main__":
    if sys.argv[2] == "--pages":
        sys.exit(check_pages(pathlib.Path(sys.argv[1])))
    sys.exit(run_page(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3], pathlib.Path(sys.argv[4]), sys.argv[5:]))
