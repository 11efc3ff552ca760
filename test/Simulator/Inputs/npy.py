# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes tensors as .npy files.

import random
import struct

NAN = 0x7FC0  # of bf16


def save(path, dtype, shape, code, numbers):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(numbers)}{code}", *numbers))


def save_bf16(path, shape, numbers):
    save(path, "<u2", shape, "H", numbers)


def save_i32(path, shape, numbers):
    save(path, "<i4", shape, "i", numbers)


def normal_bf16(rng: random.Random):
    """The bits of a normal number, rounded toward 0."""
    return struct.unpack("<I", struct.pack("<f", rng.gauss(0, 1)))[0] >> 16
