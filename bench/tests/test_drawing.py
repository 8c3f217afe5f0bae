"""test_drawing.py - cameras and tables of drawing.py in bench/adopters, and what it says at once.
SPDX-License-Identifier: Apache-2.0"""
import json
import os
import pathlib
import sys
import unittest

from bench_test import BENCH, Test

sys.path.append(os.path.join(BENCH, "adopters"))
import drawing_files

# Turned by a right angle about y: it looks along x, from (-7, 2, 3).
POSE = "0 0 -1 3 0 1 0 -2 1 0 0 7"
CAMERAS = "# head\ncameras 5\n" + "".join(
    f"100 50 {80 + i} {90 + i} 40 30 {POSE} {name}\n" for i, name in enumerate("abcde"))


class Drawing(Test):
    def cameras(self, *words):
        return drawing_files.read_cameras(self.write(CAMERAS, "given.txt"), *words)

    def test_cameras(self):
        self.assertEqual([camera["img_name"] for camera in self.cameras(0, 9, 9)], list("abcde"))
        self.assertEqual(self.cameras(2, 300, 100), [
            {"id": 0, "img_name": "a", "width": 300, "height": 100, "fx": 160, "fy": 180,
             "rotation": [[0, 0, 1], [0, 1, 0], [-1, 0, 0]], "position": [-7, 2, 3]},
            {"id": 1, "img_name": "c", "width": 300, "height": 100, "fx": 164, "fy": 184,
             "rotation": [[0, 0, 1], [0, 1, 0], [-1, 0, 0]], "position": [-7, 2, 3]}])

    def test_written(self):
        cameras, folder = self.cameras(0, 300, 100), pathlib.Path(self.path("size"))
        drawing_files.write_cameras(cameras, folder)
        self.assertEqual(json.loads((folder / "cameras.json").read_text()), cameras)
        lines = (folder / "cameras.txt").read_text().splitlines()
        self.assertEqual(lines[:2], ["cameras 5", f"300 100 160 180 150 50 {POSE} a"])
        self.assertEqual(drawing_files.read_cameras(folder / "cameras.txt", 0, 300, 100), cameras)

    def test_table(self):
        table = self.write("# program: p\nstep,pairs,frame_ms\nall,7,0.5\n", "arc.csv")
        self.assertEqual(drawing_files.read_table(table),
                         [{"step": "all", "pairs": "7", "frame_ms": "0.5"}])

    def test_without_pytorch(self):
        self.write("raise ImportError('no torch')\n", "torch.py")
        said = self.call(1, "adopters/drawing.py", PYTHONPATH=self.folder)
        self.assertEqual(said, "drawing.py: no torch: python3 -m pip install torch\n")


if __name__ == "__main__":
    unittest.main()
