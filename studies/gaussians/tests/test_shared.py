"""test_shared.py PROGRAM FOLDER - gaussians.py, in FOLDER, draws what gaussians --draw writes.
SPDX-License-Identifier: Apache-2.0"""
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

FOLDER, PROGRAM = sys.argv.pop(), sys.argv.pop()
sys.path.insert(0, FOLDER)
import gaussians  # noqa: E402

CAMERA = [40, 30, 36.0, 35.0, 21.0, 14.0, 1, 0, 0, 0.1, 0, 0, -1, 0.2, 0, 1, 0, 5]


def picture_bytes(name):
    """Of a .ppm, or of a .png of 8 bits red, green and blue."""
    with open(name, "rb") as file:
        data = file.read()
    if data.startswith(b"P6"):
        return data.split(b"\n", 3)[3]
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        if kind == b"IHDR":
            width, height = struct.unpack_from(">II", data, at + 8)
        packed += data[at + 8:at + 8 + size] * (kind == b"IDAT")
        at += size + 12
    raw, above, pixels = zlib.decompress(packed), bytes(3 * width), b""
    for y in range(height):
        start = y * (3 * width + 1)
        row = bytearray(raw[start + 1:start + 1 + 3 * width])
        for i in range(3 * width):
            a, b, c = (row[i - 3], above[i], above[i - 3]) if i > 2 else (0, above[i], 0)
            paeth = min((a, b, c), key=lambda x, p=a + b - c: abs(p - x))
            row[i] = row[i] + (0, a, b, (a + b) // 2, paeth)[raw[start]] & 255
        above, pixels = row, pixels + row
    return pixels


class Whole:
    """A whole number that is no int, as NumPy's are."""

    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number


class Shared(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = folder.name
        self.ply = os.path.join(folder.name, "model.ply")
        self.run_program("--procedural", "medium", "--gaussians", "300", "--size", "16x16",
                         "--views", "2", "--iterations", "0", "--out", self.ply)

    def run_program(self, *words):
        subprocess.run([PROGRAM, *words], check=True, stdout=subprocess.DEVNULL)

    def test_bytes(self):
        line = " ".join(map(str, CAMERA)) + " one.jpg"
        scene = os.path.join(self.place, "one.txt")
        with open(scene, "w", encoding="utf-8") as file:
            file.write(f"cameras 1\n{line}\n")
        for width, height in ((40, 30), (61, 33)):
            self.run_program("--draw", "--init", self.ply, "--scene", scene, "--size",
                             f"{width}x{height}", "--repeats", "1", "--renders", self.place)
            names = [name for name in os.listdir(self.place) if name.startswith("one.p")]
            wanted = picture_bytes(os.path.join(self.place, names[0]))
            self.assertGreater(len(set(wanted)), 20)
            for camera, size in ((CAMERA, (width, height)), (line, (Whole(width), Whole(height)))):
                picture = gaussians.draw(self.ply, camera, *size)
                self.assertEqual(picture.shape, (height, width, 3))
                self.assertEqual(picture.tobytes(), wanted)

    def test_what_is_wrong(self):
        for ply, camera, width, height, text in (
                ("/absent.ply", CAMERA, 40, 30, "/absent.ply"),
                (__file__, CAMERA, 40, 30, "test_shared.py"),
                (self.ply, CAMERA[1:], 40, 30, "the camera must be width and height"),
                (self.ply, [*CAMERA[:-1], "x"], 40, 30, "the camera must be"),
                (self.ply, CAMERA, 10**6, 10**6, "1 to 16384, not 1000000 and 1000000"),
                (self.ply, CAMERA, 2**32 + 40, 30, "1 to 16384, not 4294967336 and 30"),
                (self.ply, CAMERA, 40.5, 30, "must be whole numbers, not 40.5 and 30"),
                (self.ply, CAMERA, "40", None, "must be whole numbers, not '40' and None"),
                (self.ply, CAMERA, 0, 30, "1 to 16384, not 0 and 30"),
                (self.ply, CAMERA, 40, -1, "1 to 16384, not 40 and -1")):
            with self.assertRaises(ValueError) as raised:
                gaussians.draw(ply, camera, width, height)
            self.assertIn(text, str(raised.exception))
            self.assertNotIn("\n", str(raised.exception))

    def test_no_library(self):
        shutil.copy(gaussians.__file__, self.place)
        done = subprocess.run([sys.executable, "-B", "-c", "import gaussians; gaussians.draw('a', "
                               "[], 1, 1)"], cwd=self.place, capture_output=True, text=True)
        self.assertRegex(done.stderr, r"\nFileNotFoundError: neither /.*gpu.so nor /.*simt.so is "
                         "there; the build lays one beside its copy of gaussians.py\n$")


if __name__ == "__main__":
    unittest.main()
