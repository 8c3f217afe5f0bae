"""common.py - what the examples share: the header's folder, updates to add, the check of the sums.
SPDX-License-Identifier: Apache-2.0"""
import pathlib
import sys

import need

np = need.module("numpy")
try:
    from arc_headers import include_path  # installed by `pip install .`
except ImportError:
    def include_path():
        return str(pathlib.Path(__file__).resolve().parents[2])

ROWS, WIDTH, UPDATES, THREADS = 100, 3, 10_000, 256
BLOCKS = -(-UPDATES // THREADS)  # the last warps have lanes beyond the end

# Twenty neighbours share a key, every seventh update has none (-1). Values are whole numbers, so
# that sums are exact in any order; without a key they are NaN, and no sum may see them.
_update = np.arange(UPDATES)
KEYS = np.where(_update % 7 == 0, -1, _update // 20 * 37 % ROWS).astype(np.int32)
VALUES = (_update % 61 + KEYS)[:, None] + 256 * np.arange(WIDTH, dtype=np.float32)
VALUES = np.where(KEYS[:, None] < 0, np.nan, VALUES).astype(np.float32)


def check(name, sums):
    """Compares with sums taken on the CPU, each of which differs from all others; exits."""
    wanted = np.zeros((ROWS, WIDTH))
    np.add.at(wanted, KEYS[KEYS >= 0], VALUES[KEYS >= 0])
    assert len(np.unique(wanted)) == wanted.size
    wrong = np.count_nonzero(np.asarray(sums).reshape(ROWS, WIDTH) != wanted)
    print(f"{name}: {UPDATES} updates of {WIDTH} values into {ROWS} rows, {wrong} sums wrong")
    sys.exit(int(wrong > 0))
