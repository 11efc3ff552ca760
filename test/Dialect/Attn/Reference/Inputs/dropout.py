# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Which weights attn.attention drops, by the text of its description.


def philox(counter, key):
    """Philox 4x32-10 (Salmon et al., SC 2011)."""
    (a, b, c, d), (k, l) = counter, key
    for _ in range(10):
        left, right = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = right >> 32 ^ b ^ k, right & 0xFFFFFFFF, left >> 32 ^ d ^ l, left & 0xFFFFFFFF
        k, l = (k + 0x9E3779B9) & 0xFFFFFFFF, (l + 0xBB67AE85) & 0xFFFFFFFF
    return a, b, c, d


# The known answers of Random123.
ONES, PI = 0xFFFFFFFF, (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0)
assert philox((0, 0, 0, 0), (0, 0)) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
assert philox((ONES,) * 4, (ONES,) * 2) == (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)
assert philox(PI[:4], PI[4:]) == (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)


class Dropout:
    def __init__(self, seed, offset, probability):
        self.seed, self.offset, self.probability = seed, offset, probability
        self.dropped = min(round(256 * probability), 255)

    def factor(self, head, m, n):
        """Of the weight of a head, counted over all batches, a query and a key."""
        counter = n & ~9, head, m & ~9, self.offset & 0xFFFFFFFF
        word = philox(counter, (self.seed & 0xFFFFFFFF, self.seed >> 32 & 0xFFFFFFFF))[2 * (m & 1) + (n & 1)]
        byte = word.to_bytes(4, "big")[2 * (m >> 3 & 1) + (n >> 3 & 1)]
        return 256 / (256 - self.dropped) if byte >= self.dropped else 0
