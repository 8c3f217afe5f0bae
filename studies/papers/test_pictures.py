"""test_pictures.py - what is drawn of the papers' table and of the hardware model can be read; what
the gallery's pictures are joined by.
SPDX-License-Identifier: Apache-2.0"""
import pathlib
import sys
import unittest

STUDIES = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(STUDIES / "../bench/tests"), str(STUDIES / "hardware"),
                str(STUDIES / "common")]
import looked  # first: skips where there is no matplotlib
import figure
import paper
from PIL import Image  # matplotlib needs it


def of_paper(draw):
    rows = paper.read_table(STUDIES / "results/h200/paper.csv")
    return draw(paper.over_seeds(rows))


class Pictures(looked.Looked):
    def test_each(self):
        for draw in paper.draw_speedup, paper.draw_sensitivity, paper.draw_lanes:
            with self.subTest(draw.__name__):
                self.look_at(of_paper(draw))
        self.look_at(figure.draw(figure.read(STUDIES / "hardware/hardware.csv"),
                                 figure.read_slices(STUDIES / "results/gpgpu_sim/papers.csv")))

    def test_panels(self):
        half, wide, out = (self.path(name) for name in ("half.png", "wide.ppm", "out.png"))
        picture = Image.new("RGB", (60, 40), "#c00000")
        picture.paste("#0000c0", (30, 0, 60, 40))
        picture.save(half)
        picture.resize((1920, 80)).save(wide)
        panels = "studies/gallery/panels.py"
        self.call(0, panels, out, half + "@30,0,30,40", "right", wide, "both")
        joined = Image.open(out).convert("RGB")
        self.assertEqual(joined.size, (30 + 6 + 800, 40 + 24))
        for x, colour in (2, (0, 0, 192)), (100, (192, 0, 0)), (700, (0, 0, 192)):
            self.assertEqual(joined.getpixel((x, 20)), colour)
        for left, right in (0, 30), (36, 836):  # captions
            self.assertLess(joined.crop((left, 42, right, 64)).convert("L").getextrema()[0], 128)
        for bad in half + "@30,0", half + "x":
            self.assertIn(bad, self.call(2, panels, out, bad, "left"))


if __name__ == "__main__":
    unittest.main()
