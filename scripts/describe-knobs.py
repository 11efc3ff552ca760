# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Turns the records of Knobs.td, as `llvm-tblgen --dump-json` prints them, into
# the search spaces as JSON and into their page of the documentation:
#   describe-knobs.py <records.json> <knobs.json> <Knobs.md>

import json
import sys


def knob_of(record):
    def spell(values):
        return [record["names"][value] for value in values] if record["names"] else values

    return {"name": record["arg"], "field": record["cpp"], "default": spell([record["init"]])[0],
            "domain": spell(record["domain"]), "searched": spell(record["searched"]), "description": record["doc"]}


def sets_of(records):
    for name in records["!instanceof"]["KnobSet"]:
        record = records[name]
        yield {"name": record["name"], "for": record["doc"],
               "sizes": [{"name": records[size["def"]]["name"], "description": records[size["def"]]["doc"]}
                         for size in record["sizes"]],
               "knobs": [knob_of(records[knob["def"]]) for knob in record["knobs"]]}


def as_markdown(sets):
    yield "<!-- Generated from include/attune/Schedule/Knobs.td by `make docs`; edit that file. -->\n"
    yield "# Tunables\n"
    yield ("A kind of op has a set of tunables. Each is a field of the set's attribute, an option of\n"
           "`attune-set-schedule`, a column of the tuning database and an axis of the search, which tries\n"
           "values in parentheses only where `--only` names them.")
    for knobs in sets:
        yield f"\n## {knobs['name']}\n"
        yield f"`#schedule.{knobs['name']}`, of {knobs['for']}.\n"
        yield "| tunable | field | values | default | meaning |"
        yield "|---|---|---|---|---|"
        for knob in knobs["knobs"]:
            domain = ", ".join(str(value) if value in knob["searched"] else f"({value})" for value in knob["domain"])
            yield f"| `{knob['name']}` | `{knob['field']}` | {domain} | {knob['default']} | {knob['description']} |"
        yield "\nSizes that may be dynamic, and the options that then give them:\n"
        yield "| size | meaning |"
        yield "|---|---|"
        for size in knobs["sizes"]:
            yield f"| `--{size['name']}` | {size['description']} |"


def main(records_path, json_path, markdown_path):
    with open(records_path, encoding="utf-8") as file:
        sets = list(sets_of(json.load(file)))
    with open(json_path, "w", encoding="utf-8") as file:
        json.dump({"schema": 2, "sets": sets}, file, indent=2)
        file.write("\n")
    with open(markdown_path, "w", encoding="utf-8") as file:
        print(*as_markdown(sets), sep="\n", file=file)


if __name__ == "__main__":
    main(*sys.argv[1:])
