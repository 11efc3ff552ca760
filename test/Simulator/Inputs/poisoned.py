# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes a tensor of bf16 as <file>: random numbers, and NaN at positions of each batch behind its length. And those lengths, as they are, as
# <file>.lengths.npy.
#
#   poisoned.py <file> <order> <batch>x<heads>x<length>x<size> <seed> <lengths>...

import itertools
import random
import sys

from npy import NAN, normal_bf16, save_bf16, save_i32

path, order, sizes, seed, *lengths = sys.argv[1:]
sizes = dict(zip("bhsd", map(int, sizes.split("x"))))
lengths = list(map(int, lengths))
rng = random.Random(int(seed))
shape = [sizes[letter] for letter in order]
numbers = []
for place in itertools.product(*map(range, shape)):
    at = dict(zip(order, place))
    bits = normal_bf16(rng)
    numbers.append(bits if at["s"] < lengths[at["b"]] else NAN)
save_bf16(path, shape, numbers)
save_i32(path + ".lengths.npy", [len(lengths)], lengths)
