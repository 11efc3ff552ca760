# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Arrays for an attention of one head, and the truth about it, without NumPy.
#
#   npy.py write <folder>    q.npy, k.npy and v.npy
#   npy.py check <folder>    holds argument<n>.npy against them, and result0.npy against attention
#   npy.py bf16 <file>       bf16 numbers as uint16

import ast
import math
import os
import random
import struct
import sys

ROWS, COLUMNS = 16, 16
SHAPE = (1, 1, ROWS, COLUMNS)


def save(path, description, shape, content):
    header = repr({"descr": description, "fortran_order": False, "shape": shape}) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + content)


def load(path):
    with open(path, "rb") as file:
        content = file.read()
    assert content[:8] == b"\x93NUMPY\x01\x00", "expects version 1"
    end = 10 + struct.unpack("<H", content[8:10])[0]
    header = ast.literal_eval(content[10:end].decode())
    assert header == {"descr": "<f2", "fortran_order": False, "shape": SHAPE}, header
    values = struct.unpack(f"<{ROWS * COLUMNS}e", content[end:])
    return [values[row * COLUMNS:(row + 1) * COLUMNS] for row in range(ROWS)]


def attention(q, k, v):
    result = []
    for row in q:
        scores = [sum(a * b for a, b in zip(row, key)) / math.sqrt(COLUMNS) for key in k]
        weights = [math.exp(score - max(scores)) for score in scores]
        result.append([sum(w * value[d] for w, value in zip(weights, v)) / sum(weights) for d in range(COLUMNS)])
    return result


def main():
    mode, path = sys.argv[1:]
    names = ["q", "k", "v"]
    if mode == "bf16":
        save(path, "<u2", SHAPE, struct.pack(f"<{ROWS * COLUMNS}H", *[0x3F80] * ROWS * COLUMNS))
        return
    if mode == "write":
        rng = random.Random(1)
        for name in names:
            values = [rng.gauss(0, 1) for _ in range(ROWS * COLUMNS)]
            save(os.path.join(path, name + ".npy"), "<f2", SHAPE, struct.pack(f"<{len(values)}e", *values))
        return
    inputs = [load(os.path.join(path, name + ".npy")) for name in names]
    for index, tensor in enumerate(inputs):
        assert load(os.path.join(path, f"argument{index}.npy")) == tensor, f"argument {index} differs"
    result = load(os.path.join(path, "result0.npy"))
    error = max(abs(x - y) for row, other in zip(result, attention(*inputs)) for x, y in zip(row, other))
    print("largest error", "small" if error < 5e-3 else error)


if __name__ == "__main__":
    main()
