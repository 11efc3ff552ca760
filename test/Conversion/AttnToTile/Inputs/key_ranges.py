# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs the index arithmetic of kernels in the tile dialect and says which key
# blocks each query tile visits.
#
#   key_ranges.py <count> [<scalar>] < kernels.mlir    a line for each of the first query tiles of each kernel
#
# Scalars that a kernel takes, and what it reads from captured tensors, are all the same; flags say whether it is not 0.

import re
import sys

DEFAULT_SCALAR = 20


def wrapped(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def bits_of(name):
    return 64 if name == "index" else int(name[1:])


def divide(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


ARITH = {
    "addi": lambda a, b: a + b, "subi": lambda a, b: a - b, "muli": lambda a, b: a * b,
    "minsi": min, "maxsi": max, "minui": min, "maxui": max,
    "remsi": lambda a, b: a - b * divide(a, b), "remui": lambda a, b: a % b,
    "divsi": divide, "divui": lambda a, b: a // b, "floordivsi": lambda a, b: a // b,
    "ceildivsi": lambda a, b: -(-a // b), "ceildivui": lambda a, b: -(-a // b),
    "shli": lambda a, b: a << b, "shrsi": lambda a, b: a >> b, "shrui": lambda a, b: a >> b,
    "andi": lambda a, b: a & b, "ori": lambda a, b: a | b, "xori": lambda a, b: a ^ b,
}
PREDICATES = {
    "slt": lambda a, b: a < b, "sle": lambda a, b: a <= b, "sgt": lambda a, b: a > b, "sge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
}
UNSIGNED = {"ult": "slt", "ule": "sle", "ugt": "sgt", "uge": "sge"}


def runs(blocks):
    """Ascending numbers as half-open intervals."""
    starts = [block for block in blocks if block - 1 not in blocks]
    ends = [block + 1 for block in blocks if block + 1 not in blocks]
    return " and ".join(f"[{start}, {end})" for start, end in zip(starts, ends)) or "none"


def compute(op, a, b, bits):
    """What an op of arith makes of two numbers of so many bits."""
    if op.endswith("ui"):
        a, b = a & ((1 << bits) - 1), b & ((1 << bits) - 1)
    return wrapped(ARITH[op](a, b), bits)


def compare(predicate, a, b, bits):
    if predicate in UNSIGNED:
        a, b = a & ((1 << bits) - 1), b & ((1 << bits) - 1)
    return PREDICATES[UNSIGNED.get(predicate, predicate)](a, b)


class Kernel:
    """A kernel whose arithmetic stands in front of one loop over key blocks."""

    def __init__(self, name, lines, scalar):
        self.name, self.lines, self.scalar = name, lines, scalar
        self.loop = next(i for i, line in enumerate(lines) if "scf.for" in line)

    def evaluate(self, block):
        """(visited, unmasked): the key blocks of the query tile that are visited, and those that need no mask
        (None if there is no test, and all are masked)."""
        values = {"true": 1, "false": 0}

        def read(text):
            text = text.strip()
            if text.startswith("%arg"):
                return self.scalar
            return values[text]

        for line in self.lines[:self.loop]:
            if match := re.match(r"(%\S+) = arith\.constant (-?\d+|true|false)(?: : \w+)?$", line):
                values[match[1]] = {"true": 1, "false": 0}.get(match[2]) if match[2].isalpha() else int(match[2])
            elif match := re.match(r"(%\S+) = gpu\.block_id +x", line):
                values[match[1]] = block
            elif match := re.match(r"(%\S+) = arith\.(\w+) (%\S+), (%\S+)(?: overflow<\w+>)? : (\w+)$", line):
                assert match[2] in ARITH, f"cannot run: {line}"
                values[match[1]] = compute(match[2], read(match[3]), read(match[4]), bits_of(match[5]))
            elif match := re.match(r"(%\S+) = math\.absi (%\S+) : (\w+)$", line):
                values[match[1]] = wrapped(abs(read(match[2])), bits_of(match[3]))
            elif match := re.match(r"(%\S+) = arith\.(index_cast|extsi|trunci) (%\S+) : (\w+) to (\w+)$", line):
                values[match[1]] = wrapped(read(match[3]), bits_of(match[5]))
            elif match := re.match(r"(%\S+) = arith\.(index_castui|extui) (%\S+) : (\w+) to (\w+)$", line):
                values[match[1]] = wrapped(read(match[3]) & ((1 << bits_of(match[4])) - 1), bits_of(match[5]))
            elif match := re.match(r"(%\S+) = arith\.cmpi (\w+), (%\S+), (%\S+) : (\w+)$", line):
                values[match[1]] = compare(match[2], read(match[3]), read(match[4]), bits_of(match[5]))
            elif match := re.match(r"(%\S+) = arith\.select (%\S+), (%\S+), (%\S+) : \w+$", line):
                values[match[1]] = read(match[3]) if read(match[2]) else read(match[4])
            elif match := re.match(r"(%\S+) = memref\.load ", line):
                values[match[1]] = int(self.scalar != 0) if line.endswith("xi1>") else self.scalar
            else:
                assert not re.search(r"= (arith|math)\..*: (index|i\d+)$", line), f"cannot run: {line}"
        match = re.search(r"scf\.for (%\S+) = (%\S+) to (%\S+) step", self.lines[self.loop])
        variable, begin, end = match[1], read(match[2]), read(match[3])
        body = self.lines[self.loop:]
        # Constants may stand anywhere.
        for line in body:
            if match := re.match(r"(%\S+) = arith\.constant (-?\d+) : index$", line):
                values[match[1]] = int(match[2])
        tests = {match[1]: (match[2], read(match[3])) for line in body
                 if (match := re.match(rf"(%\S+) = arith\.cmpi (sge|slt), {variable}, (%\S+) : index$", line))}
        # Numbers from `hole` on stand for blocks that many further on.
        hole, size = end, 0
        for line in body:
            if (match := re.match(r"%\S+ = arith\.select (%\S+), (%\S+), (%\S+) : index$", line)) and match[1] in tests:
                hole, size = tests.pop(match[1])[1], read(match[3])
        blocks = {number: number if number < hole else number + size for number in range(begin, end)}
        visited = list(blocks.values())
        if tests:
            bounds = {kind: bound for kind, bound in tests.values()}
            return visited, [block for number, block in blocks.items() if bounds["sge"] <= number < bounds["slt"]]
        # Masking selects between a score and -inf.
        masks = any(re.search(r"arith\.select %\w+, %arg\d+, %\w+ : f32", line) for line in body)
        return visited, None if masks else visited

    def describe(self, block):
        visited, unmasked = self.evaluate(block)
        if not visited:
            return "visits none"
        text = f"visits {runs(visited)}"
        if unmasked is None:
            return f"{text} masks all"
        if unmasked is visited:
            return f"{text} masks none"
        return f"{text} full {runs(unmasked)}"


def parse(text, scalar=DEFAULT_SCALAR):
    kernels = []
    for match in re.finditer(r"gpu\.func @(\w+)\(.*?gpu\.return", text, re.DOTALL):
        lines = [line.strip() for line in match[0].splitlines()]
        kernels.append(Kernel(match[1].removesuffix("_kernel"), lines, scalar))
    return kernels


def main():
    text = sys.stdin.read()
    for kernel in parse(text, *map(int, sys.argv[2:])):
        print(f"{kernel.name}:")
        for block in range(int(sys.argv[1])):
            print(f"  tile {block} {kernel.describe(block)}")


if __name__ == "__main__":
    main()
