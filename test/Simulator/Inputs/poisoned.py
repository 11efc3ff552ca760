# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes a tensor of bf16 as <file>: random numbers, and NaN at positions of each batch behind its length. And those lengths, as they are, as
# <file>.lengths.npy.
#
#   poisoned.py <file> <order> <batch>x<heads>x<length>x<size> <seed> <lengths>...

import itertools
import random
import struct
import sys


def save(path, dtype, shape, code, numbers):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(numbers)}{code}", *numbers))


path, order, sizes, seed, *lengths = sys.argv[1:]
sizes = dict(zip("bhsd", map(int, sizes.split("x"))))
lengths = list(map(int, lengths))
rng = random.Random(int(seed))
NAN = 0x7FC0
shape = [sizes[letter] for letter in order]
numbers = []
for place in itertools.product(*map(range, shape)):
    at = dict(zip(order, place))
    bits = struct.unpack("<I", struct.pack("<f", rng.gauss(0, 1)))[0] >> 16
    numbers.append(bits if at["s"] < lengths[at["b"]] else NAN)
save(path, "<u2", shape, "H", numbers)
save(path + ".lengths.npy", "<i4", [len(lengths)], "i", lengths)
