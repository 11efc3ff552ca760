# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs clang-tidy, with .clang-tidy, on the sources of lib/ and tools/.
#
#   run-clang-tidy.py --source=<root> --build=<folder> [--clang-tidy=<program>] [-j <jobs>] [<part of a path>...]
#
# A source without findings is not looked at again before something that
# clang-tidy reads has changed: its text, a header, .clang-tidy, the compile
# command, clang-tidy or LLVM; of a unity build, any of the sources compiled with
# it. <build>/clang-tidy has an empty file for each, named by the hash of all that.
# Which headers a source reads is what Ninja learned when it was compiled, so build
# first: what was never compiled is looked at each time.
#
# A clang-tidy spends most of its time on headers (16 s of 18), so it gets several
# sources at once: a file that includes those with one compile command. Sources that
# a unity build does not compile as one, and that seem to define the same names, are
# kept apart. Where something is found, or where names collide after all, halves are
# looked at, down to a source alone, and only that is reported.

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

FINDING = re.compile(r"^(/\S+):(\d+):(\d+): (warning|error): ")
# How many sources one clang-tidy gets: more take more memory, and what is found is
# searched for in more of them.
BATCH = 32
# A function, a type or a constant of a source's own, or generated ones that are named
# alike for each dialect. What is missed costs time only.
NAME = re.compile(r"^(?! )(?:static |template <[^>]*> ?|inline |constexpr )*(?:(?:struct|class|enum|enum class) (\w+)|"
                  r"#include \"\S*(Attrs|Types|Ops)\.cpp\.inc|[\w:<>,*& ]*?[ *&](\w+)(?:\(| = |\[|\{))", re.MULTILINE)


class Inputs:
    """What clang-tidy reads for a source, as a hash."""

    def __init__(self, source, build, clang_tidy):
        self.source, self.build = source, build
        self.tool = subprocess.run([clang_tidy, "--version"], capture_output=True, text=True, check=True).stdout
        self.headers = self.read_headers()
        self.hashes = {}

    def read_headers(self):
        """Object file -> the files it was made of, from Ninja's log."""
        ninja = subprocess.run(["ninja", "-C", self.build, "-t", "deps"], capture_output=True, text=True, check=True)
        headers, current = {}, []
        for line in ninja.stdout.splitlines():
            if line.startswith("    "):
                current.append(self.build / line.strip())
            elif match := re.match(r"(\S+): #deps \d+, .*\(VALID\)", line):
                current = headers.setdefault(match[1], [])
        return headers

    def hash_file(self, path):
        if path not in self.hashes:
            ours = path.is_relative_to(self.source)
            # A header of a package changes with the package.
            what = path.read_bytes() if ours else f"{path.stat().st_size} {path.stat().st_mtime_ns}".encode()
            self.hashes[path] = hashlib.sha256(what).hexdigest()
        return self.hashes[path]

    def hash(self, entry):
        """None if it is not known what the source includes."""
        read = self.headers.get(re.search(r" -o (\S+)", entry["command"])[1])
        if read is None:
            return None
        # A precompiled header stands in the list beside all that it was made of.
        files = sorted({path for path in read if path.suffix != ".pch"} | {self.source / ".clang-tidy"})
        text = [self.tool, entry["command"], entry["file"]] + [f"{path} {self.hash_file(path)}" for path in files]
        return hashlib.sha256("\n".join(text).encode()).hexdigest()


def read_entries(source, build, parts):
    """The compile commands of the sources to look at, each source once."""
    entries = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        for path in find_sources(pathlib.Path(entry["file"])):
            name = str(path.relative_to(source)) if path.is_relative_to(source) else ""
            if name.startswith(("lib/", "tools/")) and (not parts or any(part in name for part in parts)):
                entries.setdefault(name, entry | {"file": str(path), "unity": entry["file"]})
    return sorted(entries.items())


def find_sources(path):
    """What is compiled as one: a source, or those that CMake's unity build includes into one."""
    if path.parent.name != "Unity":
        return [path]
    return [pathlib.Path(found) for found in re.findall(r'^#include "(.+)"', path.read_text(), re.MULTILINE)]


def make_batches(entries, size):
    """Lists of entries with one compile command that can be compiled as one: because they are, or as far as it is seen."""
    units = {}
    for name, entry in entries:
        # A program's sources import other namespaces than those of libraries do.
        program = name.split("/")[1] if name.startswith("tools/") else ""
        units.setdefault((" ".join([program, *read_arguments(entry)]), entry["unity"]), []).append((name, entry))
    groups = {}
    for (command, _), unit in units.items():
        texts = [pathlib.Path(entry["file"]).read_text() for _, entry in unit]
        defined = {"".join(found) for text in texts for found in NAME.findall(text)}
        batches = groups.setdefault(command, [])
        for batch, taken in batches:
            if len(batch) + len(unit) <= size and not taken & defined:
                break
        else:
            batch, taken = [], set()
            batches.append((batch, taken))
        batch += unit
        taken |= defined
    return [batch for batches in groups.values() for batch, _ in batches]


def read_arguments(entry):
    """What the compiler is called with, without itself, the source and the object."""
    arguments = shlex.split(entry["command"])[1:]
    for option in ("-o", "-c"):
        place = arguments.index(option)
        del arguments[place:place + 2]
    return arguments


class Checker:
    """Calls clang-tidy."""

    def __init__(self, program, source, folder):
        self.program, self.source, self.folder = program, source, folder

    def run(self, path, entry):
        command = [self.program, "--quiet", f"--config-file={self.source / '.clang-tidy'}", path, "--",
                   *read_arguments(entry)]
        return subprocess.run(command, cwd=entry["directory"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True)

    def check(self, batch):
        """Pairs of a source's name and what was found in it, None for nothing."""
        name, entry = batch[0]
        if len(batch) == 1:
            run = self.run(entry["file"], entry)
            return [(name, run.stdout if run.returncode else None)]
        together = self.folder / (name.replace("/", "-") + f"-{len(batch)}.cpp")
        together.write_text("".join(f'#include "{entry["file"]}"\n' for _, entry in batch))
        if self.run(together, entry).returncode == 0:
            return [(name, None) for name, _ in batch]
        half = len(batch) // 2
        return self.check(batch[:half]) + self.check(batch[half:])


def print_findings(source, output, seen):
    """Prints what is new: a header is read by many sources."""
    printing = False
    for line in output.splitlines():
        match = FINDING.match(line)
        if match:
            printing = line not in seen
            seen.add(line)
            line = os.path.relpath(match[1], source) + line[len(match[1]):]
        # Behind the findings clang-tidy counts them.
        if printing and not re.match(r"\d+ warnings? |Suppressed |Use -", line):
            print(line)


def main():
    parser = argparse.ArgumentParser(description="Run clang-tidy on lib/ and tools/")
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--clang-tidy", default="clang-tidy-22")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("parts", nargs="*", help="only sources with one of these in their paths")
    options = parser.parse_args()
    source, build = options.source.resolve(), options.build.resolve()

    entries = read_entries(source, build, options.parts)
    if not entries:
        sys.exit(f"error: expects sources of lib/ and tools/ in {build}/compile_commands.json, but got none")
    if not shutil.which(options.clang_tidy):
        sys.exit(f"error: expects {options.clang_tidy}, but it is not in PATH: scripts/install-dependencies.sh installs it")
    inputs = Inputs(source, build, options.clang_tidy)
    clean = build / "clang-tidy"
    clean.mkdir(exist_ok=True)
    stamps = {name: inputs.hash(entry) for name, entry in entries}
    open_entries = [(name, entry) for name, entry in entries if not (stamps[name] and (clean / stamps[name]).exists())]

    failed, seen, done = 0, set(), 0
    checker = Checker(options.clang_tidy, source, clean)
    # Of few sources, each job gets some.
    batches = make_batches(open_entries, min(BATCH, -(-len(open_entries) // options.jobs) or 1))
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for future in concurrent.futures.as_completed([pool.submit(checker.check, batch) for batch in batches]):
            for name, output in future.result():
                done += 1
                if output is None:
                    if stamps[name]:
                        (clean / stamps[name]).touch()
                    continue
                failed += 1
                print_findings(source, output, seen)
                if not re.search(FINDING.pattern, output, re.MULTILINE):
                    print(output) # it crashed, or was called wrongly
            print(f"[{done}/{len(open_entries)}] clang-tidy ({time.monotonic() - start:.0f} s)", flush=True)
    print(f"clang-tidy: {len(entries)} sources, {len(entries) - len(open_entries)} unchanged since they had no findings, "
          f"{failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
