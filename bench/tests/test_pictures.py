"""test_pictures.py - what is drawn of the committed results can be read.
SPDX-License-Identifier: Apache-2.0"""
import unittest

import looked  # first: skips where there is no matplotlib
import plot
import results
from bench_test import H200


class Pictures(looked.Looked):
    def test_overview(self):
        self.look_at(plot.overview(results.Results(H200 + "/paths.csv"), 9))


if __name__ == "__main__":
    unittest.main()
