# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Who may include whom: `layers.py <rules> <exceptions> <root>` prints each
# #include in lib/, include/ and tools/ that <rules> (layers.txt) does not allow,
# and each library of ours in a LINK or DEPENDS list. <exceptions> has the lines
# "path: what it includes" that are waited for to go away; one that is not needed
# fails, so that the list can only become shorter.

import pathlib
import re
import sys

UPSTREAM = {"mlir", "llvm", "lld"}
INCLUDE = re.compile(r'^\s*#?include "([^"]+)"')


def read_rules(path):
    rules = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            folder, _, allowed = line.partition(":")
            rules[folder] = allowed.split()
    return rules


def is_in(name, folder):
    if folder.endswith("/*"):
        return folder[:-2] in (name, name.rpartition("/")[0])
    return name == folder or name.startswith(folder + "/")


def layer_path(path):
    """include/attune/X/Y.h and lib/X/Y.cpp are X/Y.h and X/Y.cpp."""
    parts = path.parts
    if parts[0] == "tools":
        return str(path)
    return "/".join(parts[2:] if parts[0] == "include" else parts[1:])


class Linter:
    def __init__(self, rules, root):
        self.rules, self.root = rules, root
        files = sorted(path.relative_to(root) for tree in ("include/attune", "lib", "tools")
                       for path in (root / tree).rglob("*") if path.is_file())
        self.sources = [path for path in files if path.suffix in {".h", ".cpp", ".td"}]
        self.lists = [path for path in files if path.name == "CMakeLists.txt"]

    def find_rule(self, name):
        return max((folder for folder in self.rules if is_in(name, folder)), key=len, default=None)

    def is_allowed(self, name, included):
        rule = self.find_rule(name)
        return is_in(included, rule) and self.find_rule(included) == rule or any(
            is_in(included, allowed) for allowed in self.rules[rule])

    def includes(self):
        """(path, line, what is included, whether it may be)."""
        for path in self.sources:
            name = layer_path(path)
            for number, line in enumerate((self.root / path).read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                first = match and match[1].split("/")[0]
                if not match or "/" not in match[1] or first not in UPSTREAM | {"attune"}:
                    continue
                included = first if first in UPSTREAM else match[1].removeprefix("attune/")
                yield path, number, match[1], self.find_rule(name) is not None and self.is_allowed(name, included)

    def links(self):
        """The same for the lists of libraries."""
        texts = {path: re.sub(r"#.*", "", (self.root / path).read_text(encoding="utf-8")) for path in self.lists}
        homes = {match[1]: layer_path(path.parent) for path, text in texts.items()
                 for match in re.finditer(r"(?:attune_add_library|add_public_tablegen_target)\((\w+)", text)}
        for path, text in texts.items():
            name = layer_path(path)
            for call in re.finditer(r"attune_add_(?:library|target_family|tool)\(([^)]*)\)", text):
                _, *named = re.split(r"\b(?:LINK|DEPENDS)\b", call[1])
                for target in re.findall(r"\w+", " ".join(named)):
                    if target not in homes: # another project's
                        continue
                    yield path, text[:call.start()].count("\n") + 1, target, self.is_allowed(name, homes[target])


def main(rules, exceptions, root):
    linter = Linter(read_rules(pathlib.Path(rules)), pathlib.Path(root))
    assert linter.sources, f"no sources under {root}"
    lines = pathlib.Path(exceptions).read_text(encoding="utf-8").splitlines()
    waiting = {line for line in lines if line and not line.startswith("#")}
    messages = []
    for path in sorted({path for path in linter.sources if linter.find_rule(layer_path(path)) is None}):
        messages.append(f"{path}:1: expects a line for its folder in {pathlib.Path(rules).name}")
    needed = set()
    for path, number, included, allowed in [*linter.includes(), *linter.links()]:
        if allowed or linter.find_rule(layer_path(path)) is None:
            continue
        needed.add(f"{path}: {included}")
        if f"{path}: {included}" not in waiting:
            layer = linter.find_rule(layer_path(path))
            expected = ", ".join(linter.rules[layer])
            messages.append(f"{path}:{number}: expects only {expected} in {layer}, but got {included}")
    messages += [f"{pathlib.Path(exceptions).name}: expects only what is needed, but got '{line}': remove the line"
                 for line in sorted(waiting - needed)]
    print(*messages, sep="\n")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
