# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Counts the tests of lit result files and ends with the line
# "N passed, N failed[, N skipped]". Fails if a test failed or none ran.

import collections
import json
import sys

PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def main(paths):
    tests = []
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                tests += json.load(file)["tests"]
        except (OSError, ValueError, KeyError) as error:
            print(f"summarize-tests: error: expects the results of lit in '{path}', but got: {error}", file=sys.stderr)
            return 1

    counts = collections.Counter()
    for test in tests:
        kind = "passed" if test["code"] in PASSED else "skipped" if test["code"] in SKIPPED else "failed"
        counts[kind] += 1
        if kind == "failed":
            print(f"FAILED: {test['name']}")
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    print(f"{counts['passed']} passed, {counts['failed']} failed{skipped}")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
