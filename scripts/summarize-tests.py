# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Counts the tests of result files, of lit (.json) and of JUnit as pytest writes
# it (.xml), and ends with the line
# "N passed, N failed[, N skipped]". Fails if a test failed or none ran.

import collections
import json
import sys
import xml.etree.ElementTree

PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def read_junit(file):
    """The tests as lit has them. A case with a child of one of these names did not pass."""
    codes = {"failure": "FAIL", "error": "FAIL", "skipped": "SKIPPED"}
    for case in xml.etree.ElementTree.parse(file).iter("testcase"):
        found = [codes[child.tag] for child in case if child.tag in codes]
        yield {"name": f"{case.get('classname')} :: {case.get('name')}", "code": min(found, default="PASS")}


def main(paths):
    tests = []
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                tests += read_junit(file) if path.endswith(".xml") else json.load(file)["tests"]
        except (OSError, ValueError, KeyError, xml.etree.ElementTree.ParseError) as error:
            print(f"summarize-tests: error: expects the results of tests in '{path}', but got: {error}", file=sys.stderr)
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
