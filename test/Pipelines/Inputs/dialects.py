# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# dialects.py <file> <dialect>...   fails if a gpu.module of the file has ops of other dialects

import re
import sys


def main(path, allowed):
    text = open(path, encoding="utf-8").read()
    modules = re.findall(r"^  gpu\.module @.*?^  }", text, re.DOTALL | re.MULTILINE)
    assert modules, "expects a gpu.module"
    found = set()
    for line in "\n".join(modules).splitlines()[1:]:
        line = re.sub(r'"[^"]*"', "", line)
        if match := re.match(r"\s+(?:%[^=]+ = )?([a-z_]\w*)\.[a-z]", line):
            found.add(match[1])
    assert found, "expects ops in the gpu.module"
    for dialect in sorted(found - set(allowed)):
        print(f"error: expects only ops of {', '.join(allowed)} in a gpu.module, but got one of {dialect}")
    return 1 if found - set(allowed) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
