"""test_pictures.py - what is drawn of the papers' table and of the hardware model can be read.
SPDX-License-Identifier: Apache-2.0"""
import pathlib
import sys
import unittest

STUDIES = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(STUDIES / "../bench/tests"), str(STUDIES / "hardware")]
import looked  # first: skips where there is no matplotlib
import figure
import paper


def of_paper(draw):
    rows = paper.read_table(STUDIES / "results/h100_80gb_hbm3/paper.csv")
    return draw(paper.over_seeds(rows))


class Pictures(looked.Looked):
    def test_each(self):
        for draw in paper.draw_speedup, paper.draw_sensitivity, paper.draw_lanes:
            with self.subTest(draw.__name__):
                self.look_at(of_paper(draw))
        self.look_at(figure.draw(figure.read(STUDIES / "hardware/hardware.csv")))


if __name__ == "__main__":
    unittest.main()
