"""test_pictures.py - what is drawn of the committed results can be read.
SPDX-License-Identifier: Apache-2.0"""
import types
import unittest

import looked  # first: skips where there is no matplotlib
import plot
from bench_test import H200


class Pictures(looked.Looked):
    def test_each(self):
        for kind in plot.PLOTS:
            with self.subTest(kind):
                self.look_at(plot.PLOTS[kind](plot.Data(H200 + "/paths.csv", "f32"),
                                              types.SimpleNamespace(width=9)))


if __name__ == "__main__":
    unittest.main()
