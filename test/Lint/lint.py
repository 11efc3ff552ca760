# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The rules of the source tree that no compiler checks. Each rule is a function
# that yields "path:line: what is wrong" for one file; `lint.py <rule> <root>`
# prints them all and fails if there are any.

import pathlib
import re
import subprocess
import sys

SPDX = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
MAX_LINES = 600
TREES = ["benchmarks", "cmake", "docs", "examples", "include", "lib", "python", "scripts", "test", "tools", "tuning",
         "unittests", ".ci"]
CODE = {".cpp", ".h", ".c", ".td", ".py", ".sh", ".cmake", ".mlir", ".test", ".in"}


def is_source(path):
    return path.suffix in CODE or path.name == "CMakeLists.txt"


def spdx(path, lines):
    # A script may have its #! line first.
    if is_source(path) and not any(SPDX in line for line in lines[:2]):
        yield f"{path}:1: expects the line '{SPDX}' at the top"


def length(path, lines):
    generated = path.parts[:2] == ("docs", "generated")
    if not generated and len(lines) > MAX_LINES:
        yield f"{path}:{MAX_LINES}: expects at most {MAX_LINES} lines, but got {len(lines)}: split it by idea"


def chip_names(path, lines):
    """A chip is named only in its folder, lib/Target/<Vendor>/<Family>/."""
    if path.parts[0] not in ("include", "lib", "python", "tools"):
        return
    target_folder = path.parts[:2] == ("lib", "Target") and len(path.parts) > 4 and path.parts[3] != "Common"
    if target_folder:
        return
    for number, line in enumerate(lines, 1):
        match = re.search(r"sm_?[0-9]{2}|gfx[0-9]{3}", line, re.IGNORECASE)
        if match:
            yield f"{path}:{number}: names the chip '{match[0]}' outside lib/Target/<Vendor>/<Family>/"


def machine_paths(path, lines):
    if path.parts[:2] == ("test", "Lint"): # these rules and their test
        return
    for number, line in enumerate(lines, 1):
        match = re.search(r"(?<![\w.$})%])/(root|home|work)/[\w.]+", line)
        if match:
            yield f"{path}:{number}: has the path '{match[0]}' of one machine"


def nolint(path, lines):
    """What clang-tidy is not to say has a reason."""
    if path.suffix not in {".cpp", ".h"}:
        return
    for number, line in enumerate(lines, 1):
        if "NOLINT" in line and not re.search(r"// NOLINTNEXTLINE\([\w-]+\): \w+", line):
            yield f"{path}:{number}: expects '// NOLINTNEXTLINE(<check>): <reason>', but got '{line.strip()}'"


def format_cpp(root, paths):
    sources = [str(path) for path in paths if path.suffix in {".cpp", ".h"}]
    command = ["clang-format-22", "--dry-run", "--Werror", "--ferror-limit=1", *sources]
    try:
        if subprocess.run(command, cwd=root).returncode:
            yield "note: `clang-format-22 -i <file>` mends it"
    except FileNotFoundError:
        yield "expects clang-format-22, but it is not in PATH: scripts/install-dependencies.sh installs it"


def main(rule, root):
    root = pathlib.Path(root)
    paths = sorted(path.relative_to(root) for tree in TREES for path in (root / tree).rglob("*")
                   if path.is_file() and "__pycache__" not in path.parts)
    assert paths, f"no sources under {root}"
    if rule == "format":
        found = list(format_cpp(root, paths))
    else:
        rules = [spdx, length, chip_names, machine_paths, nolint]
        check = {rule.__name__.replace("_", "-"): rule for rule in rules}[rule]
        found = [message for path in paths
                 for message in check(path, (root / path).read_text(encoding="utf-8").splitlines())]
    for message in found:
        print(message)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
