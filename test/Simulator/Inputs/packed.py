# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes a tensor of bf16 of packed sequences as <file>: random numbers, and NaN behind the last sequence. And where these begin and the last one
# ends as <file>.starts.npy.
#
#   packed.py <file> <order> <heads>x<length of all>x<size> <seed> <starts>...

import itertools
import random
import sys

from npy import NAN, normal_bf16, save_bf16, save_i32

path, order, sizes, seed, *starts = sys.argv[1:]
sizes = dict(zip("hsd", map(int, sizes.split("x"))), b=1)
starts = list(map(int, starts))
rng = random.Random(int(seed))
shape = [sizes[letter] for letter in order]
numbers = []
for place in itertools.product(*map(range, shape)):
    bits = normal_bf16(rng)
    numbers.append(bits if place[order.index("s")] < starts[-1] else NAN)
save_bf16(path, shape, numbers)
save_i32(path + ".starts.npy", [len(starts)], starts)
