# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes a cache of pages: pools of keys and values of bf16 as <prefix>.k.npy and .v.npy, which pages each batch has as .pages.npy, and lengths,
# as they are, as .lengths.npy. Pages lie in any order. Two batches that have a whole page share their first one. NaN is in pages that nobody
# has and behind the last key of a page; behind the last page of a batch there are numbers of no page.
#
#   paged_cache.py <prefix> <order> <heads> <most pages>x<page>x<size of key>x<size of value> <seed> <lengths>...

import itertools
import random
import sys

from npy import NAN, normal_bf16, save_bf16, save_i32

prefix, order, heads, sizes, seed, *lengths = sys.argv[1:]
most, page, *head_sizes = map(int, sizes.split("x"))
lengths = list(map(int, lengths))
rng = random.Random(int(seed))

free = list(range(most * len(lengths)))
rng.shuffle(free)
held = {}  # how many keys a page has
table = []
shared = None
for length in lengths:
    length = min(max(length, 0), most * page)
    row = []
    for first in range(0, length, page):
        if first == 0 and length >= page and shared is not None:
            row.append(shared)
            continue
        row.append(free.pop())
        held[row[-1]] = min(page, length - first)
        if first == 0 and length >= page:
            shared = row[0]
    table += row + [rng.choice([-1, 2**31 - 1]) for _ in range(most - len(row))]

for name, size in zip(("k", "v"), head_sizes):
    extents = {"b": most * len(lengths), "h": int(heads), "s": page, "d": size}
    shape = [extents[letter] for letter in order]
    numbers = []
    for place in itertools.product(*map(range, shape)):
        at = dict(zip(order, place))
        bits = normal_bf16(rng)
        numbers.append(bits if at["s"] < held.get(at["b"], 0) else NAN)
    save_bf16(f"{prefix}.{name}.npy", shape, numbers)
save_i32(prefix + ".pages.npy", [len(lengths), most], table)
save_i32(prefix + ".lengths.npy", [len(lengths)], lengths)
