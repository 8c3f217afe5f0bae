"""test_convert.py - convert.py makes folders that gaussians reads, of what was photographed.
SPDX-License-Identifier: Apache-2.0

usage: test_convert.py [PROGRAM]     gaussians, which then reads one of the folders, too"""
import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

try:
    import numpy as np
    from PIL import Image
except ModuleNotFoundError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
try:
    import pycolmap
except ModuleNotFoundError:
    pycolmap = None

SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "convert.py"
sys.path.insert(0, str(SCRIPT.parent))
import convert

PROGRAM = sys.argv.pop() if len(sys.argv) > 1 and os.access(sys.argv[-1], os.X_OK) else None
WIDTH, HEIGHT, VIEWS = 160, 120, 5
NAMES = ["a.png", "b.png", "cd.png", "eé.png", "f.png"]
LENSES = [convert.Lens(WIDTH, HEIGHT, 150.0, 150.0, 83.0, 57.0, *distortion) for distortion in
          [(0.0, 0.0, 0.0, 0.0), (0.09, -0.3, 0.004, -0.006), (-0.25, 0.06, 0.0, 0.0),
           (0.2, 0.0, 0.0, 0.0)]]
POINTS = np.array([[1.5 * (i % 3 - 1), 1.1 * (i // 3 - 1), 0.3 * np.sin(2.0 * i)]
                   for i in range(9)])


def quaternion(view):
    drawn = np.array([1.0, 0.1 * np.sin(3.0 * view), 0.15 * np.cos(2.0 * view + 1.0),
                      0.12 * np.sin(1.0 + view)])
    return drawn / np.linalg.norm(drawn)


def pose(view):
    """World to camera, 3 x 4."""
    w, x, y, z = quaternion(view)
    rotation = [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]
    translation = [[0.3 * np.sin(view)], [-0.2 * np.cos(view)], [5.0 + 0.2 * view]]
    return np.hstack([rotation, translation])


def shown(lens, x, y):
    """Where the lens shows x, y of the plane at depth 1."""
    r2 = x * x + y * y
    radial = 1 + lens.k1 * r2 + lens.k2 * r2 * r2
    return (lens.cx + lens.fx * (radial * x + 2 * lens.p1 * x * y + lens.p2 * (r2 + 2 * x * x)),
            lens.cy + lens.fy * (radial * y + 2 * lens.p2 * x * y + lens.p1 * (r2 + 2 * y * y)))


def photograph(lens, view):
    """A soft dot where each point is."""
    picture = np.zeros((HEIGHT, WIDTH))
    for x, y, z in POINTS @ pose(view)[:, :3].T + pose(view)[:, 3]:
        u, v = shown(lens, x / z, y / z)
        dx, dy = np.arange(WIDTH) + 0.5 - u, np.arange(HEIGHT)[:, None] + 0.5 - v
        picture += np.exp(-0.25 * (dx * dx + dy * dy))
    return Image.fromarray((255.0 * np.clip(picture, 0.0, 1.0)).astype(np.uint8)).convert("RGB")


def pixels(path):
    with Image.open(path) as picture:
        return np.asarray(picture)


def frame(view, path, **others):
    rotation, translation = pose(view)[:, :3], pose(view)[:, 3:]
    axes = rotation.T * [1.0, -1.0, -1.0]
    matrix = np.vstack([np.hstack([axes, -rotation.T @ translation]), [[0.0, 0.0, 0.0, 1.0]]])
    return {"file_path": path, "transform_matrix": matrix.tolist(), **others}


class ConvertTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "in" / "images").mkdir(parents=True)

    def photograph(self, lens):
        for view, name in enumerate(NAMES):
            photograph(lens, view).save(self.folder / "in" / "images" / name)

    def write_nerf(self, shared, frames):
        (self.folder / "in" / "transforms.json").write_text(json.dumps({**shared,
                                                                        "frames": frames}))

    def convert(self, to, scale=1.0, source="in"):
        convert.convert(self.folder / source, scale, self.folder / to)
        return self.folder / to

    def refused(self, part, to="out", source="in"):
        before = sorted(self.folder.iterdir())
        with self.assertRaisesRegex(convert.Refused, part):
            self.convert(to, source=source)
        self.assertEqual(sorted(self.folder.iterdir()), before)

    def read_cameras(self, path):
        """Name: numbers."""
        head, _, *lines = path.read_bytes().decode().splitlines()
        self.assertEqual(head, f"cameras {len(lines)}")
        fields = [line.split(" ", 18) for line in lines]
        return {field[18]: np.array(field[:18], dtype=float) for field in fields}

    def check_scene(self, to, lens, scale):
        """Every dot lies where the camera projects its point."""
        cameras, looked_at = self.read_cameras(to / "cameras.txt"), 0
        self.assertEqual(list(cameras), [name.replace("png", "ppm") for name in NAMES])
        for view, (name, numbers) in enumerate(cameras.items()):
            width, height, fx, fy, cx, cy = numbers[:6]
            picture = pixels(to / "images" / name)[:, :, 1].astype(float)
            self.assertEqual(picture.shape, (height, width))
            np.testing.assert_allclose(numbers[6:].reshape(3, 4), pose(view), atol=1e-12)
            self.assertLess(abs(fx / scale - lens.fx), 0.01 * lens.fx)
            for x, y, z in POINTS @ pose(view)[:, :3].T + pose(view)[:, 3]:
                u, v = fx * x / z + cx, fy * y / z + cy
                if not (6 < u < width - 6 and 6 < v < height - 6):
                    continue
                part = np.s_[int(v) - 5:int(v) + 6, int(u) - 5:int(u) + 6]
                rows, columns = np.mgrid[part] + 0.5
                total = picture[part].sum()
                self.assertLess(np.hypot((columns * picture[part]).sum() / total - u,
                                         (rows * picture[part]).sum() / total - v), 0.1)
                looked_at += 1
        self.assertGreater(looked_at, 3 * VIEWS)

    def test_nerf(self):
        for lens in LENSES:
            self.photograph(lens)
            shared = {"fl_x": lens.fx, "cx": lens.cx, "cy": lens.cy, "w": float(WIDTH), "h": HEIGHT,
                      "k1": lens.k1, "k2": lens.k2, "p1": lens.p1, "p2": lens.p2, "aabb_scale": 4}
            self.write_nerf(shared, [frame(view, f"./images/{NAMES[view]}", sharpness=1)
                                     for view in (2, 0, 4, 3, 1)])
            kind = LENSES.index(lens)
            self.check_scene(self.convert(f"whole{kind}"), lens, 1.0)
            half = self.convert(f"half{kind}", 0.5)
            self.check_scene(half, lens, 0.5)
            self.assertFalse((half / "points.txt").exists())
            only = self.convert("only.txt", 0.5, "in/transforms.json")
            self.assertEqual(only.read_bytes(), (half / "cameras.txt").read_bytes())
        if PROGRAM:
            done = subprocess.run([PROGRAM, "--scene", half, "--iterations", "1"],
                                  capture_output=True, text=True)
            self.assertIn("5 views of ", done.stdout, done.stderr)

    def test_null(self):
        """Where a frame holds null, what all frames share counts; a mark of UTF-8 is no error."""
        shared = {"fl_x": 99, "w": 160, "h": 120, "cx": 70, "k1": None, "p1": 0.0}
        texts = []
        for others in ({}, dict.fromkeys(("fl_x", "w", "h", "cx", "k1", "p1", "camera_model"))):
            self.write_nerf(shared, [frame(0, "a", **others)])
            place = self.folder / "in" / "transforms.json"
            place.write_bytes(b"\xef\xbb\xbf" + place.read_bytes().replace(b",", b",\r\n"))
            texts.append(self.convert(f"out{len(texts)}.txt").read_bytes())
        self.assertEqual(*texts)

    def test_folding_lens(self):
        """Nothing is kept from beyond where the polynomial turns back inside the picture."""
        self.write_nerf({"fl_x": 150, "w": WIDTH, "h": HEIGHT, "k1": -1.2}, [frame(0, "a")])
        width, height, _, _, cx, cy = self.read_cameras(self.convert("out.txt"))["a.ppm"][:6]
        self.assertLess(np.hypot(0.5 - cx, 0.5 - cy) / 150.0, np.sqrt(1.0 / 3.6))
        self.assertTrue(WIDTH / 2 <= width < WIDTH)

    @unittest.skipIf(pycolmap is None, "no pycolmap")
    def test_colmap(self):
        models = ["PINHOLE {0.fx} {0.fy} {0.cx} {0.cy}",
                  "OPENCV {0.fx} {0.fy} {0.cx} {0.cy} {0.k1} {0.k2} {0.p1} {0.p2}",
                  "RADIAL {0.fx} {0.cx} {0.cy} {0.k1} {0.k2}",
                  "SIMPLE_RADIAL {0.fx} {0.cx} {0.cy} {0.k1}"]
        place = self.folder / "in" / "sparse" / "0"
        place.mkdir(parents=True)

        def write(file, lines):
            (place / file).write_text("".join(f"{line}\n" for line in lines))

        write("points3D.txt", [f"{i + 1} {x} {y} {z} {10 * i} 51 255 0.5"
                               for i, (x, y, z) in enumerate(POINTS)])
        for kind, (lens, model) in enumerate(zip(LENSES, models)):
            self.photograph(lens)
            name, numbers = model.format(lens).split(" ", 1)
            write("cameras.txt", [f"7 {name} {WIDTH} {HEIGHT} {numbers}"])
            write("images.txt", [" ".join(map(str, [view + 1, *quaternion(view), *pose(view)[:, 3],
                                                    7, NAMES[view]])) + "\n"
                                 for view in (2, 0, 4, 3, 1)])
            to = self.convert(f"colmap{kind}", 0.5)
            self.check_scene(to, lens, 0.5)
        head, *lines = (to / "points.txt").read_text().splitlines()
        points = np.array([line.split() for line in lines], dtype=float)
        self.assertEqual(head, "points 9")
        np.testing.assert_allclose(points[:, :3], POINTS)
        np.testing.assert_array_equal(points[:, 3:], [[10 * i, 51, 255] for i in range(9)])
        for name, views in ("1", (1, 3, 0)), ("10", (4, 2)):
            place = self.folder / "in" / "sparse" / name
            place.mkdir()
            write("cameras.txt", [f"7 PINHOLE {WIDTH} {HEIGHT} 150 150 83 57"])
            write("points3D.txt", [])
            write("images.txt", [" ".join(map(str, [view + 1, *quaternion(view), *pose(view)[:, 3],
                                                    7, NAMES[view]])) + "\n" for view in views])
        os.rename(self.folder / "in" / "sparse" / "0", self.folder / "in" / "0")
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.assertEqual(len(self.read_cameras(self.convert("largest.txt"))), 3)
        self.assertRegex(said.getvalue(), "^convert.py: taken: '.*sparse/1' with 3 pictures, the "
                         "most of 2 models; --model names another\n$")
        for model, count in ("sparse/10", 2), ("0", 5), ("sparse/1", 3):
            to = self.folder / f"{count}.txt"
            convert.convert(self.folder / "in", 1.0, to, model)
            self.assertEqual(len(self.read_cameras(to)), count)
        with self.assertRaisesRegex(convert.Refused, "in/sparse/7' holds no COLMAP model"):
            convert.convert(self.folder / "in", 1.0, self.folder / "7.txt", "sparse/7")
        shutil.rmtree(self.folder / "in" / "sparse")
        place = self.folder / "in" / "sparse" / "0"
        place.parent.mkdir()
        os.rename(self.folder / "in" / "0", place)
        write("cameras.txt", [f"7 OPENCV_FISHEYE {WIDTH} {HEIGHT} 150 150 83 57 .1 .1 .1 .1"])
        self.refused("a camera of model OPENCV_FISHEYE, or with")
        write("cameras.txt", ["7 PINHOLE 1"])
        self.refused("sparse/0'")

    def test_names(self):
        """Folders become a part of names; frames without a picture are left out."""
        for path in ("one/x.png", "one/y.png", "two/x y.png"):
            (self.folder / "in" / path).parent.mkdir(exist_ok=True)
            photograph(LENSES[0], 0).save(self.folder / "in" / path)
        frames = [frame(0, path) for path in ("two/x y", "one/x.png", "one/y", "one/none.png")]
        self.write_nerf({"fl_x": 99}, frames[:3])
        to = self.convert("out", 0.3)
        names = ["one_x.ppm", "one_y.ppm", "two_x y.ppm"]
        self.assertEqual(list(self.read_cameras(to / "cameras.txt")), names)
        self.assertEqual(sorted(os.listdir(to / "images")), names)
        self.assertEqual(pixels(to / "images" / "one_x.ppm").shape, (36, 48, 3))
        self.write_nerf({"fl_x": 99, "w": 160, "h": 120}, frames)
        self.assertEqual(len(self.read_cameras(self.convert("fewer") / "cameras.txt")), 3)
        self.assertEqual(len(self.read_cameras(self.convert("all.txt"))), 4)
        self.write_nerf({"fl_x": 99}, frames)  # the absent one does not tell its size
        self.assertEqual(len(self.read_cameras(self.convert("sized") / "cameras.txt")), 3)
        self.assertEqual(len(self.read_cameras(self.convert("sized.txt"))), 3)
        self.write_nerf({"fl_x": 99, "w": 160, "h": 120}, [frames[0], frames[0]])
        self.refused("names must differ", to="new")
        self.refused("fewer' is there already", to="fewer")

    def test_pictures(self):
        values = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3) * 3
        Image.fromarray(values).save(self.folder / "a.png")
        to = self.convert("b.ppm", source="a.png")
        np.testing.assert_array_equal(pixels(to), values)
        to = self.convert("b.ppm", 0.5, "a.png")
        means = values.reshape(2, 2, 3, 2, 3).mean(axis=(1, 3))
        self.assertLessEqual(abs(pixels(to) - means).max(), 0.501)
        means = pixels(self.convert("b.png", 0.8, "a.png")).mean((0, 1))
        self.assertLess(abs(means - values.mean((0, 1))).max(), 0.5)
        Image.new("RGBA", (1, 1), (200, 100, 50, 128)).save(self.folder / "a.png")
        to = self.convert("b.ppm", source="a.png")
        self.assertEqual(pixels(to).tolist(), [[[100, 50, 25]]])
        Image.new("F", (1, 1)).save(self.folder / "a.tiff")
        self.refused("not of 8 or 16 bits", "c.ppm", "a.tiff")
        self.refused("cannot read '.*absent.jpg'", "c.ppm", "absent.jpg")
        whole = (self.folder / "b.ppm").read_bytes()
        (self.folder / "d.ppm").write_bytes(whole[:-1])
        self.refused("cannot read '.*d.ppm'", "c.ppm", "d.ppm")

    def test_encodings(self):
        """One picture in all encodings, with a damaged part beside it, as in test_pictures.cu."""
        colours, greys = [(200, 100, 50), (7, 255, 128)], [(200,) * 3, (7,) * 3]
        half = [(100, 50, 25), (0, 0, 0)]
        half_greys, keyed = [(100,) * 3, (0,) * 3], [(0, 0, 0), colours[1]]
        gammas = [(b"gAMA", struct.pack(">I", 100000)), (b"sRGB", b"\0")]
        exif = [(b"eXIf", bytes((0, 0, 17, 0, 0, 1, 4, 0)))]

        def check(kind, depth, numbers, wanted, *parts, damage=None):
            def wide(numbers):
                return b"".join(bytes([number]) * (depth // 8) for number in numbers)

            data = b"\x89PNG\r\n\x1a\n"
            for name, part in ((b"IHDR", struct.pack(">IIBBBBB", 2, 1, depth, kind, 0, 0, 0)),
                               *((name, part if isinstance(part, bytes) else wide(part))
                                 for name, part in parts),
                               (b"IDAT", zlib.compress(b"\0" + wide(numbers))), (b"IEND", b"")):
                check_sum = zlib.crc32(name + part) ^ (name == damage)
                data += struct.pack(">I", len(part)) + name + part + struct.pack(">I", check_sum)
            (self.folder / "a.png").write_bytes(data)
            shown = pixels(self.convert("b.ppm", source="a.png"))
            self.assertEqual(shown.tolist(), [list(map(list, wanted))], (kind, depth, parts))

        clear = [*colours[0], 128, *colours[1], 0]
        for parts in ([], *([gamma] for gamma in gammas), exif):
            for depth in (8, 16):
                for damage in (None, b"gAMA", b"eXIf"):
                    check(2, depth, sum(colours, ()), colours, *parts, damage=damage)
                    check(6, depth, clear, half, *parts, damage=damage)
                    check(0, depth, (200, 7), greys, *parts, damage=damage)
                    check(4, depth, (200, 128, 7, 0), half_greys, *parts, damage=damage)
            check(3, 8, (0, 1), half, *parts, (b"PLTE", bytes(sum(colours, ()))),
                  (b"tRNS", b"\x80\0"))
        check(2, 8, sum(colours, ()), keyed, (b"tRNS", bytes((0, 200, 0, 100, 0, 50))))
        check(2, 16, sum(colours, ()), keyed, (b"tRNS", colours[0]))
        check(0, 16, (200, 7), [(0, 0, 0), greys[1]], (b"tRNS", (200,)))

    def test_refused(self):
        self.photograph(LENSES[0])
        good = frame(0, "images/a.png")
        fl = {"fl_x": 100}
        turned = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 3]]
        for shared, frames, part in (
                (fl, [], "lacks frames"), (fl, {}, "lacks frames"), (fl, [5], "frame 0: "),
                ({}, [good], "frame 0: it lacks fl_x"), ({"fl_x": 0}, [good], "fl_x is 0; it must"),
                ({"fl_x": float("nan")}, [good], "fl_x is nan"),
                ({"fl_x": "100"}, [good], "fl_x is '100'; it must be 0.01 to"),
                (fl, [{**good, "k1": "0"}], "frame 0: k1 is '0'; it must be"),
                (fl, [{**good, "file_path": 7}], "frame 0: file_path is 7; it must be a text"),
                (fl, [{**good, "file_path": None}], "frame 0: file_path is None; it must be"),
                ({"camera_angle_x": 4}, [good], "camera_angle_x is 4; it must be 0.001 to 3.1"),
                ({**fl, "w": 160, "h": 2147483648}, [good], "h is 2147483648; it must be 1 to"),
                ({**fl, "w": 80, "h": 60}, [good], "has 160 x 120 pixels, its camera 80 x 60"),
                ({**fl, "k1": -9}, [good], "leaves less than half"),
                ({**fl, "k3": 0.1}, [good], "or with k3"),
                ({**fl, "camera_model": "EQUIRECT"}, [good], "a camera of model EQUIRECT"),
                ({**fl, "w": 160, "h": 120}, [good, {"file_path": "a"}], "frame 1: it lacks 'tr"),
                (fl, [{"transform_matrix": turned}], "frame 0: it lacks 'file_path'"),
                (fl, [{**good, "transform_matrix": 7}], "must be 4 rows of 4 numbers"),
                (fl, [{**good, "transform_matrix": [[-1, 0, 0, 0], *turned[1:]]}], "no rotation"),
                (fl, [{**good, "transform_matrix": [[1, 0, 0, 1e10], *turned[1:]]}], "of at most"),
                ({**fl, "w": 9, "h": 9}, [frame(0, "none")], "none of 1 pictures can be read"),
                ({**fl, "w": 9, "h": 9}, [frame(0, "n" * 300)], "none of 1 pictures can be read")):
            self.write_nerf(shared, frames)
            self.refused(part)
        for text in ("", "{", "[]", "[" * 100000, '{"frames": [NaN]}', "\xff"):
            (self.folder / "in" / "transforms.json").write_bytes(text.encode("latin-1"))
            self.refused("transforms.json'")
        self.refused("holds neither a transforms.json nor", source="in/images")
        self.write_nerf(fl, [good])
        (self.folder / "in" / "images" / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
        self.refused("none of 1 pictures can be read")

    def test_command_line(self):
        def run(*arguments):
            done = subprocess.run([sys.executable, "-B", SCRIPT, *arguments], cwd=self.folder,
                                  capture_output=True, text=True)
            return done.returncode, done.stdout, done.stderr

        self.photograph(LENSES[0])
        self.write_nerf({"fl_x": 99}, [frame(view, f"images/{NAMES[view]}") for view in (1, 0)])
        status, output, errors = run("in", "out", "--scale", "0.5")
        self.assertEqual((status, output, errors), (0, "2 pictures\nwritten    out\n", ""))
        for arguments, wanted in ((("in", "out"), (2, "is there already")),
                                  (("in", "none/out"), (1, "No such file or directory")),
                                  (("none", "new"), (2, "holds neither a transforms.json")),
                                  (("in", "new", "--scale", "0"), (2, "must be a number above 0")),
                                  (("in", "new", "--scale", "nan"), (2, "--scale is nan"))):
            status, output, errors = run(*arguments)
            self.assertEqual((status, output), (wanted[0], ""))
            self.assertIn(wanted[1], errors)
            self.assertRegex(errors, r"(^|\n)convert.py: .*\n$")
        self.assertEqual(sorted(os.listdir(self.folder)), ["in", "out"])
        images = self.folder / "in" / "images"
        os.mkfifo(images / "slow.ppm")
        (images / "b\x1b[31m.png").write_bytes((images / "a.png").read_bytes()[:300])
        for name in ("deep.ppm", "wide.ppm"):
            (images / name).write_bytes(b"P6 160 120 65535\n" + bytes(160 * 120 * 6))
        self.write_nerf({"fl_x": 99, "ply_file_path": "sparse.ply", "test_filenames": []}, [
            frame(0, "images/" + name) for name in ("a.png", "b\x1b[31m.png",
             "none.png", "deep.ppm", "wide.ppm", "slow.ppm")] + [frame(0, "images\\b.png")])
        status, output, errors = run("in", "fewer")
        self.assertEqual((status, output), (0, "3 pictures; 4 left out\nwritten    fewer\n"))
        self.assertNotIn("\x1b", errors)
        for part in (r"ignored: ply_file_path, test_filenames, of '.*transforms.json'",
                     r"left out: .*none.png': there is no such file",
                     r"left out: .*b\\x1b\[31m.png'", r"pictures of 16 bits per channel, such",
                     r"left out: .*images\\b.png': .*write / in its place"):
            self.assertEqual(len(re.findall(f"(?m)^convert.py: {part}", errors)), 1, (part, errors))

    def test_signals(self):
        """Nothing is left behind; a signal that is ignored from the start stays so."""
        os.mkfifo(self.folder / "in" / "slow.json")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            child = subprocess.Popen([sys.executable, "-B", SCRIPT, "in/slow.json", "out"],
                                     cwd=self.folder, stderr=subprocess.PIPE, text=True, preexec_fn=(
                lambda: number != signal.SIGHUP and signal.signal(signal.SIGHUP, signal.SIG_IGN)))
            while not any(self.folder.glob("out.*")):
                self.assertIsNone(child.poll())
            if number != signal.SIGHUP:
                child.send_signal(signal.SIGHUP)
            child.send_signal(number)
            self.assertEqual((child.communicate()[1], child.returncode),
                             ("convert.py: interrupted\n", 128 + number))
            self.assertEqual(os.listdir(self.folder), ["in"])


if __name__ == "__main__":
    unittest.main()
