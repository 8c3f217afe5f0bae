"""drawing.py - a model drawn by FlashGS, by gsplat, by its renderer HiGS and by arc, timed.
SPDX-License-Identifier: Apache-2.0

Builds what it takes of the checkouts, draws with one program after the other, and compares their
pictures with those of gsplat's forward pass. README.md has the commands, and what they need."""
import pathlib
import subprocess

import common  # first: it says where PyTorch is missing
import PIL.Image
import torch
import drawing_files
import measure
import splats

FLASHGS_COMMIT, GSPLAT_COMMIT = "1e6de2a", "90d7b4b349e379ccf9ee6a8cef76aa40f48bb32e"
HERE = pathlib.Path(__file__).resolve().parent
HIGS = "experimental/render/kernels/cuda/csrc/gaussian_inference"
GSPLAT_FILES = (
    *(f"cuda/csrc/{name}" for name in (
        "ProjectionEWA3DGSFused.cu", "SphericalHarmonicsCUDA.cu",
        "SphericalHarmonicsViewDirectionCUDA.cu", "IntersectTile.cu",
        "RasterizeToPixels3DGSSerialBatchFwd.cu", "Utils.cpp")),
    *(f"{HIGS}/{name}.cu" for name in (
        "IntersectCommon", "IntersectMTFused", "MacroTileIntersect", "MacroTileRasterize",
        "Projection", "SegmentedSort")))
FLASHGS_FLAGS = ["-O1", "-Xptxas=-O1"]  # its own
# Where a tile has 1 or 2 splats, render.cu reads the first of them by indices that are not set.
REPAIRS = {"(lane & 4) == 0 && point_id + 1 < range.y": "(lane & 4) == 0 && point_id < range.y",
           "if (point_id + 2 < range.y)": "if (point_id + 1 < range.y)"}
FLASHGS_PAIRS, FLASHGS_TILES = 2**27, 2**20  # that its example.py has room for
WARM_UP = 2
COLUMNS = ("pairs", "pair_bytes", "taken_mib", "place_ms", "sort_ms", "paint_ms", "frame_ms",
           "frames_a_second", "memory_mib", "psnr_db", "pixels_off")

# ---- building ---------------------------------------------------------------------------------


def repaired(source):
    for condition, repair in REPAIRS.items():
        if source.count(condition) != 1:
            common.fail(f"FlashGS's render.cu is another: check out {FLASHGS_COMMIT}")
        source = source.replace(condition, repair)
    return source


def build(options):
    folder, gsplat = options.folder.resolve(), options.gsplat.resolve() / "gsplat"
    cuda = options.flashgs.resolve() / "csrc/cuda_rasterizer"
    for path, commit in ((cuda / "render.cu", FLASHGS_COMMIT), (gsplat / HIGS, GSPLAT_COMMIT)):
        if not path.exists():
            common.fail(f"no {path}: check out {commit}")
    for name in ("drawing", "flashgs"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    common.write(folder / "render.cu", repaired((cuda / "render.cu").read_text()))
    common.build("flashgs", [folder / "render.cu", cuda / "preprocess.cu", cuda / "sort.cu",
                             HERE / "flashgs_ops.cu"], folder / "flashgs", [cuda, cuda.parent],
                 FLASHGS_FLAGS, options.arch)
    common.build("drawing", [*(gsplat / name for name in GSPLAT_FILES), HERE / "drawing_ops.cu"],
                 folder / "drawing", [gsplat / "cuda/include", gsplat / "cuda/csrc", gsplat,
                                      common.find_glm(options, gsplat)],
                 ["-use_fast_math", "-DNDEBUG", "-DGSPLAT_NUM_CHANNELS=3"], options.arch,
                 standard="c++20")


# ---- who draws --------------------------------------------------------------------------------
# Each makes its model and its room, and returns a function of a camera, an entry of cameras.json:
# milliseconds of the stages and of all, pairs, picture. Behind it, bytes of a pair in the lists,
# and of all lists where they are taken at once.


def zeros(*shape, dtype=torch.float32):
    return torch.zeros(shape, dtype=dtype, device="cuda")


def view_of(camera):
    """World to camera [1, 4, 4], and camera to pixels [1, 3, 3]."""
    rows = [*drawing_files.world_to_camera(camera), [0, 0, 0, 1]]
    pixels = [[camera["fx"], 0, 0.5 * camera["width"]], [0, camera["fy"], 0.5 * camera["height"]],
              [0, 0, 1]]
    return torch.tensor([rows], device="cuda"), torch.tensor([pixels], device="cuda")


def gsplat(ops, scene, _):
    names = ("positions", "rotations", "scales", "opacities", "harmonics")
    model = [scene[name].clone() for name in names]
    return lambda camera: ops.gsplat_frame(model, *view_of(camera), camera["width"],
                                           camera["height"]), 24, 0


def higs(ops, scene, tile):
    """As pack_gaussian_inference_scene and create_gaussian_render_inference_scene_state do."""
    count, half = len(scene["positions"]), torch.float16
    packed = torch.cat([torch.nn.functional.normalize(scene["rotations"]), scene["scales"],
                        scene["opacities"][:, None]], 1).clamp(max=65504).half()
    model = [scene["positions"].T.contiguous(), packed, scene["harmonics"].half()]
    state = [zeros(-(-count // 32), dtype=torch.int32), zeros(1, 1, count, 2), zeros(1, 1, count),
             zeros(1, 1, count, 4, dtype=half), zeros(count, 4, dtype=half),
             torch.tensor([[0, 0, 0, 1]], dtype=half, device="cuda")]
    return lambda camera: ops.higs_frame(
        model, state, *view_of(camera), camera["width"], camera["height"], tile,
        zeros(1, camera["height"], camera["width"], 4, dtype=half)), 16, 0


def flashgs(ops, scene, tile):
    """As its example.py does."""
    count = len(scene["positions"])
    sides = splats.axes(scene, splats.drawn_camera(1, 1, "cuda")) * scene["scales"][:, None, :]
    model = [scene["positions"].clone(), scene["harmonics"].clone(), scene["opacities"].clone(),
             (sides @ sides.mT).flatten(1)[:, [0, 1, 2, 4, 5, 8]].contiguous()]
    lists = [zeros(FLASHGS_PAIRS, dtype=dtype) for dtype in (torch.int64, torch.int32) * 2]
    lists.append(zeros(ops.sort_bytes(FLASHGS_PAIRS), dtype=torch.int8))
    room = [*lists, zeros(FLASHGS_TILES, 2, dtype=torch.int32), zeros(1, dtype=torch.int32),
            zeros(count, 2), zeros(count, 4), zeros(count, 4)]

    def frame(camera):
        pose = torch.tensor(camera["position"] + sum(camera["rotation"], []))
        rows = -(-camera["height"] // 16) * 16  # empty tiles are written beyond the picture, too
        return ops.frame(model, room, pose, camera["fx"], camera["fy"], camera["width"],
                         camera["height"], tile, zeros(rows, camera["width"], 3, dtype=torch.uint8))

    return frame, 24, sum(values.nbytes for values in lists)


def rivals(options):
    """(name, function, operators, tile). With the pictures of the first all others are compared."""
    ops = common.load(options.folder / "drawing", "drawing")
    yield "gsplat", gsplat, ops, 16
    yield from ((f"higs_{tile}", higs, ops, tile) for tile in (8, 16))
    its = common.load(options.folder / "flashgs", "flashgs")
    yield from ((f"flashgs_{tile}x16", flashgs, its, tile) for tile in (16, 32))


# ---- measuring --------------------------------------------------------------------------------


def compare(pictures, wanted):
    """Mean PSNR in dB; where it is largest, the share of pixels off by more than 1/255."""
    decibels, off = [], []
    for pair in zip(pictures, wanted):
        values, others = (its.cuda().float().div(255 if its.dtype == torch.uint8 else 1)
                          .clamp(0, 1) for its in pair)
        error = (values - others).abs()
        decibels.append(-10 * error.square().mean().clamp(min=1e-12).log10().item())
        off.append((error > 1.0001 / 255).any(2).float().mean().item())
    return {"psnr_db": sum(decibels) / len(decibels), "pixels_off": max(off)}


def draw(options, start, cameras):
    """The row, medians of launches and means of views, and the pictures."""
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before, rows, pictures = torch.cuda.memory_allocated(), [], []
    frame, pair_bytes, taken = start()
    for camera in cameras:
        times = [frame(camera)[0] for _ in range(WARM_UP + options.launches)][WARM_UP:]
        _, pairs, picture = frame(camera)
        picture = picture.view(-1, *picture.shape[-2:])[:camera["height"], :, :3].cpu()
        rows.append([pairs, pair_bytes, (taken or pairs * pair_bytes) / 2**20,
                     *(sorted(its)[len(its) // 2] for its in zip(*times))])
        pictures.append(picture)
    row = dict(zip(COLUMNS, (sum(values) / len(rows) for values in zip(*rows))))
    peak = torch.cuda.max_memory_allocated() - before
    return {**row, "frames_a_second": 1000 / row["frame_ms"], "memory_mib": peak / 2**20}, pictures


def draw_arc(options, size, folder, cameras, wanted):
    """The rows of bench_gaussians, by its steps; its pictures are those of the step `all`."""
    table, pictures = folder / "arc.csv", []
    subprocess.run([options.arc, "--draw", "--init", options.scene, "--scene",
                    folder / "cameras.txt", "--size", size, "--repeats", str(options.launches),
                    "--renders", folder, "--csv", table], check=True)
    for camera in cameras:
        for path in folder.glob(f"{camera['img_name']}.p[np]*"):  # .png or .ppm
            with PIL.Image.open(path) as its:
                data = bytearray(its.convert("RGB").tobytes())
                pictures.append(torch.frombuffer(data, dtype=torch.uint8)
                                .view(its.height, its.width, 3))
    for row in drawing_files.read_table(table):
        if row["step"] == "all" and len(pictures) == len(wanted):
            row["psnr_db"] = compare(pictures, wanted)["psnr_db"]
        yield row["step"], row


def run(options):
    if not torch.cuda.is_available():
        common.fail("no CUDA device")
    lines = [f"# {line}" for line in measure.head(common.REPOSITORY, "scope=theirs")]
    lines.append(",".join(("scene,size,variant", *COLUMNS)))

    def add(variant, row):
        values = (row.get(name, "") for name in COLUMNS)
        lines.append(",".join([options.scene.stem, size, variant, *(
            f"{value:.6g}" if isinstance(value, float) else str(value) for value in values)]))
        print(lines[-1], flush=True)
        if options.csv:
            pathlib.Path(options.csv).write_text("\n".join(lines) + "\n")

    scene = splats.read_ply(options.scene, "cuda", harmonics=True)
    for size in options.sizes:
        width, height = map(int, size.split("x"))
        entries = drawing_files.read_cameras(options.cameras, options.views, width, height)
        drawing_files.write_cameras(entries, options.folder / size)
        wanted = None
        for name, make, ops, tile in rivals(options):
            torch.ops.drawing.higs_reset()
            row, pictures = draw(options, lambda: make(ops, scene, tile), entries)
            add(name, {**row, **compare(pictures, wanted)} if wanted else row)
            wanted = wanted or pictures
        if options.arc:
            for step, row in draw_arc(options, size, options.folder / size, entries, wanted):
                add(f"arc_{step}", row)


# ---- program ----------------------------------------------------------------------------------


def main():
    parser = common.parser("drawing", __doc__)
    parser.add_argument("flashgs", type=pathlib.Path, help=f"a checkout, at {FLASHGS_COMMIT}")
    parser.add_argument("gsplat", type=pathlib.Path, help=f"a checkout, at {GSPLAT_COMMIT[:8]}")
    parser.add_argument("--glm", type=pathlib.Path, help="default: gsplat's submodule")
    parser.add_argument("--scene", type=pathlib.Path, help="a .ply of 3D Gaussian splatting")
    parser.add_argument("--cameras", type=pathlib.Path, help="a cameras.txt, as of convert.py")
    parser.add_argument("--views", type=int, default=0, help="how many of the cameras; 0: all")
    parser.add_argument("--sizes", type=lambda text: text.split(","),
                        default=["1920x1080", "3840x2160"])
    parser.add_argument("--arc", type=pathlib.Path, help="bench_gaussians_gpu, to draw, too")
    options = parser.parse_args()
    if not options.run:
        build(options)
    if not options.build_only:
        if not (options.scene and options.cameras):
            common.fail("--scene and --cameras are needed to draw")
        run(options)


if __name__ == "__main__":
    main()
