# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether two folders of attune-run have the same results, bit by bit."""

import pathlib
import sys

first, second = (pathlib.Path(name) for name in sys.argv[1:])
results = sorted(path.name for path in first.glob("result*.npy"))
if not results:
    sys.exit(f"expects results in {first}")
for name in results:
    if (first / name).read_bytes() != (second / name).read_bytes():
        sys.exit(f"expects the same bits in {name}")
