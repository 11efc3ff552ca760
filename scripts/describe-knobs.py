# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Turns the records of Knobs.td, as `llvm-tblgen --dump-json` prints them, into
# the search space as JSON and into its page of the documentation:
#   describe-knobs.py <records.json> <knobs.json> <Knobs.md>

import json
import sys


def knobs_of(records):
    knobs = [records[name] for name in records["!instanceof"]["Knob"]]
    # As they stand in the file: tblgen lists records by name.
    knobs.sort(key=lambda knob: int(knob["!locs"][0].split(":")[-1]))
    return [{"name": knob["arg"], "field": knob["cpp"], "default": knob["init"],
             "domain": knob["domain"], "searched": knob["searched"], "description": knob["doc"]} for knob in knobs]


def as_markdown(knobs):
    yield "<!-- Generated from include/attune/Schedule/Knobs.td by `make docs`; edit that file. -->\n"
    yield "# Tunables\n"
    yield ("Each is a field of `#attn.schedule`, an option of `attn-set-schedule`, a column of the tuning\n"
           "database and an axis of the search, which tries values in parentheses only where `--only` names them.\n")
    yield "| tunable | field | values | default | meaning |"
    yield "|---|---|---|---|---|"
    for knob in knobs:
        domain = ", ".join(str(value) if value in knob["searched"] else f"({value})" for value in knob["domain"])
        yield f"| `{knob['name']}` | `{knob['field']}` | {domain} | {knob['default']} | {knob['description']} |"


def main(records_path, json_path, markdown_path):
    with open(records_path, encoding="utf-8") as file:
        knobs = knobs_of(json.load(file))
    with open(json_path, "w", encoding="utf-8") as file:
        json.dump({"schema": 1, "knobs": knobs}, file, indent=2)
        file.write("\n")
    with open(markdown_path, "w", encoding="utf-8") as file:
        print(*as_markdown(knobs), sep="\n", file=file)


if __name__ == "__main__":
    main(*sys.argv[1:])
