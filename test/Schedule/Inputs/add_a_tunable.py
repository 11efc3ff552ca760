# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Adds tunables and a set to a copy of Knobs.td, generates from it what the
# build would, by the build's own rules, and runs a program on the result:
#   add_a_tunable.py <source folder> <folder of LLVM's tools> <scratch folder>
#
# Prints what the program prints and then the page of the documentation.

import os
import re
import shutil
import subprocess
import sys

RECORDS = """
def Knob_Depth : Knob<"depth", "depth", 1, [1, 2], "How deep.", [3]>;
def Knob_Shine : EnumKnob<"shine", "shine", "Shine", [I32EnumCase<"Dull", 0, "dull">, I32EnumCase<"VeryBright", 1, "very-bright">],
  "How bright.">;
"""
SET = """
def Knobs_Toy : KnobSet<"toy", "Toy", [Knob_NumWarps, Knob_Shine], [ProblemSize<"toys", "Number of toys">], "toys">;

"""
BEFORE_SETS = "def Knobs_Attention :"
LIST = "Knob_LateKeys, Knob_StrengthReduction, Knob_Assembler\n]"
BEFORE_ALL = "// All of them, in the order"


def main(source, tools, scratch):
    shutil.rmtree(scratch, ignore_errors=True)
    folder = os.path.join(scratch, "include", "attune", "Schedule")
    shutil.copytree(os.path.join(source, "include", "attune", "Schedule"), folder)
    knobs = os.path.join(folder, "Knobs.td")
    with open(knobs, encoding="utf-8") as file:
        text = file.read()
    for place, added in [(BEFORE_SETS, RECORDS + BEFORE_SETS), (LIST, "Knob_LateKeys, Knob_StrengthReduction, Knob_Assembler, Knob_Depth, Knob_Shine\n]"),
                         (BEFORE_ALL, SET + BEFORE_ALL)]:
        if text.count(place) != 1:
            sys.exit(f"expects '{place}' once in Knobs.td")
        text = text.replace(place, added)
    with open(knobs, "w", encoding="utf-8") as file:
        file.write(text)

    mlir = os.path.join(os.path.dirname(tools), "include")
    includes = ["-I", os.path.join(scratch, "include"), "-I", os.path.join(source, "include"), "-I", mlir]

    def run(*command):
        subprocess.run(command, check=True)

    # The rules as CMake has them.
    with open(os.path.join(folder, "IR", "CMakeLists.txt"), encoding="utf-8") as file:
        rules = re.findall(r"set\(LLVM_TARGET_DEFINITIONS (\S+)\)|mlir_tablegen\((\S+) (.*)\)", file.read())
    for td, output, flags in rules:
        if td:
            current = os.path.join(folder, "IR", td)
        else:
            run(os.path.join(tools, "mlir-tblgen"), *includes, *flags.split(), current, "-o",
                os.path.join(folder, "IR", output))

    program = os.path.join(scratch, "program")
    inputs = os.path.dirname(os.path.abspath(__file__))
    library = os.path.join(os.path.dirname(tools), "lib")
    run(os.environ.get("CXX", "c++"), "-std=c++17", "-O0", "-fno-exceptions", *includes, "-I", source,
        os.path.join(inputs, "add-a-tunable.cpp"), f"-L{library}", f"-Wl,-rpath,{library}", "-lMLIR", "-lLLVM", "-o", program)
    run(program)
    records = os.path.join(scratch, "records.json")
    page = os.path.join(scratch, "Knobs.md")
    run(os.path.join(tools, "llvm-tblgen"), "--dump-json", "-I", mlir, knobs, "-o", records)
    run(sys.executable, os.path.join(source, "scripts", "describe-knobs.py"), records, os.path.join(scratch, "knobs.json"), page)
    with open(page, encoding="utf-8") as file:
        print(file.read())


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    main(*sys.argv[1:])
