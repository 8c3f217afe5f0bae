"""convert.py - makes the folder that gaussians reads, from NeRF or COLMAP data.
SPDX-License-Identifier: Apache-2.0

    python3 convert.py --scale 0.5 capture fox             transforms.json, or a COLMAP model
    python3 convert.py --model sparse/1 capture fox        that one of several COLMAP models
    python3 convert.py capture/transforms.json fox.txt     the cameras alone, for gaussians --draw
    python3 convert.py photo.jpg photo.ppm                 a picture, for the other programs

Needs numpy and Pillow; for a COLMAP model (in the folder, in sparse or in a folder there, its
pictures in images) pycolmap, too: of several models, that with the most pictures. Distortion is
undone: same focal length, and as many whole rows and columns
cut off as hold pixels that the photograph does not show. Then pictures are shrunk: each new pixel
is the mean of the area it covers. A picture that is absent or cannot be read is named and left out,
and they are counted; what is ignored or loses bits is told once. Numbers of pictures are taken as
stored, whatever is said of their gamma or profile; 16 bits become the upper 8. Transparent pixels
are laid on black: colours as stored, times alpha, as loaders of NeRF data do.

Exit status: 0 done, 1 failed, 2 refused, 128 + signal interrupted. No output is half written."""
import argparse
import collections
import concurrent.futures
import contextlib
import functools
import io
import json
import math
import os
import pathlib
import re
import signal
import sys
import tempfile
import threading

try:
    import numpy as np
    from PIL import Image
except ImportError as missing:
    sys.exit(f"convert.py: {missing}: python3 -m pip install numpy pillow")

MOST_SIDE, MOST_DISTANCE = 16384, 1e9
MODELS = ("SIMPLE_PINHOLE", "PINHOLE", "SIMPLE_RADIAL", "RADIAL", "OPENCV", "PERSPECTIVE")
RANGES = {"w": (1, MOST_SIDE), "h": (1, MOST_SIDE), "fl_x": (0.01, 1e6), "fl_y": (0.01, 1e6),
          "camera_angle_x": (0.001, 3.1), "camera_angle_y": (0.001, 3.1),
          **dict.fromkeys(("cx", "cy", "k1", "k2", "p1", "p2"), (-1e6, 1e6))}
EXTENSIONS = ("", ".png", ".jpg", ".jpeg", ".ppm", ".PNG", ".JPG", ".JPEG", ".PPM")
Image.MAX_IMAGE_PIXELS = MOST_SIDE * MOST_SIDE

Lens = collections.namedtuple("Lens", "width height fx fy cx cy k1 k2 p1 p2")
Photo = collections.namedtuple("Photo", "path lens pose")  # pose: world to camera, y down, 3 x 4


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
IGNORED = ("ply_file_path", "mask_path", "depth_file_path", "depth_path", "train_filenames",
           "val_filenames", "test_filenames")


class Refused(Exception):
    pass


class Unreadable(Refused):
    """A picture, which is left out."""


class Interrupted(BaseException):
    pass


class Notes:
    """What goes to stderr: pictures that are left out, and the rest once each."""

    def __init__(self):
        self.left_out, self.told, self.lock = [], set(), threading.Lock()

    @staticmethod
    def say(text):
        text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(text))
        print(f"convert.py: {text}", file=sys.stderr)

    def leave_out(self, reason):
        self.left_out.append(str(reason))
        self.say(f"left out: {reason}")

    def once(self, what, text):
        with self.lock:
            if what not in self.told:
                self.say(text)
            self.told.add(what)


# ---- cameras ----------------------------------------------------------------------------------


def lens_of(fields, picture, notes):
    """From fields named as in transforms.json; without w and h the picture tells its size. Focal
    lengths are in pixels, given as that or as the angle of view."""
    fields = {name: value for name, value in fields.items() if value is not None}
    model = fields.get("camera_model", "OPENCV")
    if model not in MODELS or any(fields.get(name) for name in ("k3", "k4", "is_fisheye")):
        raise Refused(f"a camera of model {model}, or with k3, k4 or is_fisheye; it must be of "
                      f"{', '.join(MODELS)}, without them")
    for name, (least, most) in RANGES.items():
        value = fields.get(name, least)
        if type(value) not in (int, float) or not least <= value <= most:
            raise Refused(f"{name} is {value!r}; it must be {least:g} to {most:g}")
    if not {"w", "h"} <= fields.keys():
        fields["w"], fields["h"] = read_picture(picture, notes).size
    width, height, focal = fields["w"], fields["h"], []
    for axis, side in ("x", width), ("y", height):
        angle = fields.get(f"camera_angle_{axis}")
        focal.append(fields.get(f"fl_{axis}") or (angle and 0.5 * side / math.tan(0.5 * angle)))
    if focal[0] is None:
        raise Refused("it lacks fl_x (pixels) or camera_angle_x (radians)")
    return Lens(int(width), int(height), focal[0], focal[1] or focal[0],
                fields.get("cx", 0.5 * width), fields.get("cy", 0.5 * height),
                *(fields.get(name, 0.0) for name in ("k1", "k2", "p1", "p2")))


def pose_of(matrix):
    """From camera to world, x right, y up, z back, of rounded numbers, to world to camera."""
    matrix = np.array(matrix, dtype=float)
    if matrix.shape not in ((3, 4), (4, 4)) or not (abs(matrix) <= MOST_DISTANCE).all():
        raise Refused(f"transform_matrix must be 4 rows of 4 numbers of at most {MOST_DISTANCE:g}")
    axes = matrix[:3, :3].T * [[1.0], [-1.0], [-1.0]]
    if not (abs(axes @ axes.T - np.eye(3)) <= 0.01).all() or np.linalg.det(axes) < 0.0:
        raise Refused("transform_matrix holds no rotation; its first three columns must be at "
                      "right angles and of length 1, right-handed")
    columns, upper = np.linalg.qr(axes.T)  # Gram and Schmidt, from the first row on
    axes = (columns * np.sign(np.diag(upper))).T
    return np.hstack([axes, -axes @ matrix[:3, 3:]])


def find_picture(path):
    """With the extension that the file has, where the frame names none."""
    places = (path.with_name(path.name + extension) for extension in EXTENSIONS)
    try:
        return next((place for place in places if place.is_file()), path)
    except (OSError, ValueError):  # no legal name: reading it will say so
        return path


def read_nerf(path, notes):
    try:
        shared = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as reason:
        raise Refused(f"'{path}': {reason}") from None
    frames = shared.get("frames") if isinstance(shared, dict) else None
    if not isinstance(frames, list) or not frames:
        raise Refused(f"'{path}' lacks frames, an array of at least one")
    ignored = [name for name in IGNORED if name in shared or
               any(isinstance(frame, dict) and name in frame for frame in frames)]
    if ignored:
        notes.once("ignored", f"ignored: {', '.join(ignored)}, of '{path}'")
    photos = []
    for index, frame in enumerate(frames):
        try:
            if not isinstance(frame["file_path"], str):
                raise Refused(f"file_path is {frame['file_path']!r}; it must be a text")
            picture = find_picture(path.parent / frame["file_path"])
            own = {name: value for name, value in frame.items() if value is not None}
            lens = lens_of({**shared, **own}, picture, notes)
            photos.append(Photo(picture, lens, pose_of(frame["transform_matrix"])))
        except Unreadable as reason:
            notes.leave_out(reason)
        except KeyError as name:
            raise Refused(f"'{path}', frame {index}: it lacks {name}") from None
        except (Refused, OSError, TypeError, ValueError) as reason:
            raise Refused(f"'{path}', frame {index}: {reason}") from None
    return photos


def open_colmap(model):
    try:
        import pycolmap
        return pycolmap.Reconstruction(model)
    except ImportError as missing:
        raise Refused(f"{missing}, which reads COLMAP: python3 -m pip install pycolmap") from None
    except Exception as reason:  # of whatever kind it raises
        raise Refused(f"'{model}': {str(reason).splitlines()[0]}") from None


def has_pose(image):
    return getattr(image, "has_pose", True)


def read_colmap(models, pictures, notes):
    """Of the largest model, the photos and the points, x y z red green blue."""
    posed, model, scene = max(
        ((sum(map(has_pose, scene.images.values())), model, scene)
         for model, scene in ((model, open_colmap(model)) for model in models)),
        key=lambda found: found[0])
    if len(models) > 1:
        notes.say(f"taken: '{model}' with {posed} pictures, the most of {len(models)} models; "
                  "--model names another")
    photos, renamed = [], {"f": "fl_x", "fx": "fl_x", "fy": "fl_y", "k": "k1"}
    for image in scene.images.values():
        if not has_pose(image):
            notes.leave_out(f"'{image.name}' has no pose")
            continue
        camera, path = scene.cameras[image.camera_id], pictures / image.name
        names = [renamed.get(name, name) for name in camera.params_info.split(", ")]
        fields = dict(zip(names, camera.params.tolist()), w=camera.width, h=camera.height,
                      camera_model=camera.model.name)
        pose = image.cam_from_world
        pose = pose() if callable(pose) else pose  # a method since pycolmap 3.12
        photos.append(Photo(path, lens_of(fields, path, notes), pose.matrix()))
    return photos, [[*point.xyz.tolist(), *point.color.tolist()]
                    for _, point in sorted(scene.points3D.items())]


def read_photos(path, model, notes):
    if path.suffix.lower() == ".json":
        return read_nerf(path, notes), []
    if model is None and (path / "transforms.json").is_file():
        return read_nerf(path / "transforms.json", notes), []
    sparse = path / "sparse"
    models = [path, sparse, *sorted(sparse.glob("*"))] if model is None else [path / model]
    models = [place for place in models
              if (place / "cameras.bin").is_file() or (place / "cameras.txt").is_file()]
    if models:
        return read_colmap(models, path / "images", notes)
    if model is not None:
        raise Refused(f"'{path / model}' holds no COLMAP model (cameras.bin or cameras.txt)")
    raise Refused(f"'{path}' holds neither a transforms.json nor a COLMAP model (cameras.bin or "
                  "cameras.txt, also in sparse or a folder there)")


# ---- pictures ---------------------------------------------------------------------------------


def has_wide_channels(picture):
    """Whether Pillow drops bits as it reads: more than 8 a channel."""
    parts = [part for tile in picture.tile for part in (tile[3] if isinstance(tile[3], tuple)
                                                        else (tile[3],))]
    return any(";16" in part if isinstance(part, str) else picture.format == "PPM" and part > 255
               for part in parts if isinstance(part, (str, int)))


def check_there(path):
    with contextlib.suppress(OSError, ValueError):  # no legal name
        if path.is_file():
            return
    hint = "; a backslash separates no folders here: write / in its place"
    raise Unreadable(f"cannot read '{path}': there is no such file" +
                     (hint if "\\" in str(path) else ""))


def without_extras(data):
    """Of a PNG, whose other parts may be damaged, what its pixels need; of other files nothing."""
    if not data.startswith(b"\x89PNG\r\n\x1a\n"):
        return b""
    kept, at = data[:8], 8
    while at < len(data):
        end = at + 12 + int.from_bytes(data[at:at + 4], "big")
        if data[at + 4:at + 5].isupper() or data[at + 4:at + 8] == b"tRNS":
            kept += data[at:end]
        at = end
    return kept


def decode(file, path, notes):
    with Image.open(file) as picture:
        deep_grey = picture.mode[0] == "I" and picture.format in ("PNG", "PPM")
        if picture.mode[0] in "IF" and not deep_grey:
            raise ValueError(f"a picture of kind {picture.mode}, not of 8 or 16 bits per channel")
        is_wide = deep_grey or has_wide_channels(picture)
        if is_wide:
            notes.once("wide", f"pictures of 16 bits per channel, such as '{path}', become 8")
        with contextlib.suppress(Exception):  # a damaged tag, beside sound pixels
            if picture.getexif().get(0x0112, 1) != 1:
                notes.once("turned", f"orientation tags, as in '{path}', are not applied")
        clear = picture.info.get("transparency")
        if deep_grey:
            numbers = np.asarray(picture)
            parts = [Image.fromarray((numbers >> 8).astype(np.uint8))] * 3
            if clear is not None:
                parts.append(Image.fromarray(np.uint8(255) * (numbers != clear)))
            picture = Image.merge("RGBA"[:len(parts)], parts)
        elif isinstance(clear, tuple) and is_wide:
            picture.info["transparency"] = tuple(number >> 8 for number in clear)
        if "A" not in picture.getbands() and "transparency" not in picture.info:
            return picture.convert("RGB")
        black = Image.new("RGBA", picture.size, (0, 0, 0, 255))
        return Image.alpha_composite(black, picture.convert("RGBA")).convert("RGB")


def read_picture(path, notes):
    check_there(path)
    try:
        return decode(path, path, notes)
    except Exception as reason:  # of whatever kind Pillow raises
        with contextlib.suppress(Exception):
            return decode(io.BytesIO(without_extras(path.read_bytes())), path, notes)
        raise Unreadable(f"cannot read '{path}': {reason}") from None


def distort(lens, columns, rows):
    """Where in the photograph lies what a pinhole camera sees there, by Brown and Conrady; and the
    square of how far from the middle of the image plane that is."""
    x, y = (columns - lens.cx) / lens.fx, (rows - lens.cy) / lens.fy
    r2 = x * x + y * y
    radial = 1.0 + r2 * (lens.k1 + r2 * lens.k2)
    u = x * radial + 2.0 * lens.p1 * x * y + lens.p2 * (r2 + 2.0 * x * x)
    v = y * radial + 2.0 * lens.p2 * x * y + lens.p1 * (r2 + 2.0 * y * y)
    return lens.fx * u + lens.cx, lens.fy * v + lens.cy, r2


@functools.lru_cache(maxsize=2)
def flatten(lens):
    """Which columns and rows are left, and where their pixels lie; None: they stay. The
    worst side moves in until all four are shown. The map is continuous, and one to one within the
    least root of its derivative along r, 1 + 3 k1 r2 + 5 k2 r2^2; so what lies between four shown
    sides is shown."""
    x0, x1, y0, y1 = 0, lens.width, 0, lens.height
    if not any(lens[6:]):
        return (x0, x1, y0, y1), None
    roots = np.roots([5.0 * lens.k2, 3.0 * lens.k1, 1.0])
    fold = min((root.real for root in roots if np.isreal(root) and root.real > 0.0), default=1e30)
    u, v, r2 = distort(lens, np.arange(x1) + 0.5, np.arange(y1)[:, None] + 0.5)
    hidden = ~((r2 < fold) & (u >= 0) & (u <= x1) & (v >= 0) & (v <= y1))
    while 2 * (x1 - x0) >= lens.width and 2 * (y1 - y0) >= lens.height:
        sides = [hidden[y0:y1, x0].mean(), hidden[y0:y1, x1 - 1].mean(),
                 hidden[y0, x0:x1].mean(), hidden[y1 - 1, x0:x1].mean()]
        worst = int(np.argmax(sides))
        if sides[worst] == 0.0:
            return (x0, x1, y0, y1), (u[y0:y1, x0:x1], v[y0:y1, x0:x1])
        x0, x1, y0, y1 = x0 + (worst == 0), x1 - (worst == 1), y0 + (worst == 2), y1 - (worst == 3)
    raise Refused("undoing the distortion k1 {:g} k2 {:g} p1 {:g} p2 {:g} leaves less than half of "
                  "the picture's width or height".format(*lens[6:]))


def sample(plane, u, v):
    """Bilinear, at places of the photograph; its outermost half pixel repeats its neighbour."""
    plane, column, row = np.pad(plane, 1, "edge"), (u + 0.5).astype(int), (v + 0.5).astype(int)
    across, down = np.float32(u + 0.5 - column), np.float32(v + 0.5 - row)
    above = plane[row, column] + across * (plane[row, column + 1] - plane[row, column])
    row = row + 1
    below = plane[row, column] + across * (plane[row, column + 1] - plane[row, column])
    return above + down * (below - above)


def shares(old, new):
    """How much of each of `new` pixels, equally wide, lies over each of the `old` ones."""
    edges, pixels = np.linspace(0.0, old, new + 1)[:, None], np.arange(old)
    over = np.minimum(edges[1:], pixels + 1) - np.maximum(edges[:-1], pixels)
    return np.float32(np.maximum(over, 0.0) * (new / old))


def scaled(begin, end, scale):
    return max(1, math.floor((end - begin) * scale + 0.5))


def convert_picture(path, lens, scale, to, notes):
    pixels = np.asarray(read_picture(path, notes), dtype=np.float32)
    height, width = pixels.shape[:2]
    lens = lens or Lens(width, height, *[1.0] * 4, *[0.0] * 4)
    if (width, height) != lens[:2]:
        raise Refused(f"'{path}' has {width} x {height} pixels, its camera {lens[0]} x {lens[1]}")
    (x0, x1, y0, y1), places = flatten(lens)
    planes = [sample(plane, *places) if places else plane for plane in pixels.transpose(2, 0, 1)]
    if scale < 1.0:
        rows, columns = (shares(end - begin, scaled(begin, end, scale))
                         for begin, end in ((y0, y1), (x0, x1)))
        planes = [rows @ plane @ columns.T for plane in planes]
    rgb = np.stack(planes, axis=2) + np.float32(0.5)
    Image.fromarray(rgb.astype(np.uint8)).save(to)


# ---- what is written --------------------------------------------------------------------------


def name_photos(photos):
    """Of the new pictures: without the folder that all of them lie in, and in no folder."""
    folder = os.path.commonpath([photo.path.parent for photo in photos])
    names = {}
    for photo in photos:
        name = os.path.relpath(photo.path, folder).replace("/", "_")
        name = re.sub(r"(?i)\.(png|jpe?g|ppm)$", "", name) + ".ppm"
        if name in names or "\n" in name or len(os.fsencode(name)) > 127:
            raise Refused(f"a picture would be called {name!r}; names must differ, be of one line "
                          "and have at most 127 bytes")
        names[name] = photo
    return names


def write_cameras(names, scale, to):
    lines = [f"cameras {len(names)}\n",
             "# width height fx fy cx cy, world to camera (3 rows of 4), picture\n"]
    for name, (_, lens, pose) in names.items():
        x0, x1, y0, y1 = flatten(lens)[0]
        width, height = scaled(x0, x1, scale), scaled(y0, y1, scale)
        by_x, by_y = width / (x1 - x0), height / (y1 - y0)
        numbers = [width, height, lens.fx * by_x, lens.fy * by_y, (lens.cx - x0) * by_x,
                   (lens.cy - y0) * by_y, *pose.ravel().tolist()]
        lines.append(f"{' '.join(map(repr, numbers))} {name}\n")
    to.write_bytes(os.fsencode("".join(lines)))


def write_pictures(names, scale, to, notes):
    """Returns the names of those that could be read, in order."""
    def write(name):
        try:
            convert_picture(names[name].path, names[name].lens, scale, to / name, notes)
        except Unreadable as reason:
            return reason
        return None

    with concurrent.futures.ThreadPoolExecutor(min(16, os.cpu_count() or 1)) as pool:
        reasons = dict(zip(names, pool.map(write, names)))
    for reason in filter(None, reasons.values()):
        notes.leave_out(reason)
    return {name: names[name] for name in names if reasons[name] is None}


def write_scene(photos, points, scale, to, notes):
    (to / "images").mkdir(parents=True)
    there, names = [], {}
    for photo in photos:
        try:
            check_there(photo.path)
            there.append(photo)
        except Unreadable as reason:
            notes.leave_out(reason)
    if there:
        names = write_pictures(name_photos(there), scale, to / "images", notes)
    if not names:
        raise Refused(f"none of {len(notes.left_out)} pictures can be read")
    write_cameras(names, scale, to / "cameras.txt")
    if points:
        lines = [" ".join(map(repr, point)) + "\n" for point in points]
        (to / "points.txt").write_text("".join([f"points {len(points)}\n", *lines]))
    print(f"{len(names)} pictures" +
          (f"; {len(notes.left_out)} left out" if notes.left_out else ""))


def convert(source, scale, to, model=None):
    """Whole, or not at all: in a folder of its own, beside, until it is done."""
    notes = Notes()
    if to.is_dir():
        raise Refused(f"'{to}' is there already")
    with tempfile.TemporaryDirectory(dir=to.parent, prefix=to.name + ".") as place:
        made = pathlib.Path(place) / to.name
        if to.suffix.lower() in (".ppm", ".png"):
            convert_picture(source, None, scale, made, notes)
        else:
            photos, points = read_photos(source, model, notes)
            photos.sort(key=lambda photo: os.fsencode(photo.path))
            if to.suffix.lower() != ".txt":
                write_scene(photos, points, scale, made, notes)
            elif photos:
                write_cameras(name_photos(photos), scale, made)
            else:
                raise Refused(f"none of {len(notes.left_out)} frames tells the size of its picture")
        made.replace(to)


def on_signal(number, _):
    for each in SIGNALS:  # what is half made is removed, undisturbed
        signal.signal(each, signal.SIG_IGN)
    raise Interrupted(number)


def main():
    for each in SIGNALS:
        if signal.getsignal(each) != signal.SIG_IGN:  # as under nohup
            signal.signal(each, on_signal)
    parser = argparse.ArgumentParser(description="Makes the folder that gaussians reads.")
    parser.add_argument("--scale", type=float, default=1.0, help="above 0, up to 1; default: 1")
    parser.add_argument("--model", metavar="FOLDER", help="of several COLMAP models this one, such "
                        "as sparse/1, in place of the one with the most pictures")
    parser.add_argument("source", help="a folder with transforms.json or a COLMAP model, a .json "
                        "like transforms.json, or a picture")
    parser.add_argument("to", help="the folder to make; a .txt: the cameras alone; of a picture a "
                        ".ppm or .png")
    options = parser.parse_args()
    if not 0.0 < options.scale <= 1.0:
        parser.error(f"--scale is {options.scale}; it must be a number above 0, up to 1")
    source, to = (pathlib.Path(os.path.abspath(name)) for name in (options.source, options.to))
    try:
        convert(source, options.scale, to, options.model)
    except (Refused, OSError) as reason:
        print(f"convert.py: {reason}", file=sys.stderr)
        return 2 if isinstance(reason, Refused) else 1
    except Interrupted as interrupted:
        print("convert.py: interrupted", file=sys.stderr)
        return 128 + interrupted.args[0]
    print(f"written    {options.to}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
