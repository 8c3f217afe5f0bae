"""gsplat.py - gsplat's backward kernels, as they are and with arc, compared and timed.
SPDX-License-Identifier: Apache-2.0

    python3 bench/adopters/gsplat.py --csv gsplat.csv
    python3 bench/adopters/gsplat.py --scene model.ply --cameras transforms.json

Downloads gsplat's package, changes a copy of two of its files (RasterizeToPixels3DGSBwd.cu and
RasterizeToPixels2DGSBwd.cu), builds both copies, compares all gradients, and times the kernels on
drawn scenes or a trained one. Needs PyTorch, nvcc of its CUDA version, ninja and the network;
--build-only and --run do the two halves on two machines."""
import pathlib
import re
import subprocess
import sys
import zipfile

try:
    import torch
except ImportError as missing:
    sys.exit(f"gsplat.py: {missing}: python3 -m pip install torch")
import common
import splats

VERSION = "1.5.3"
NO_ABSGRAD = "arc_always_no_absgrad"  # leaves those gradients out: a piece less
VARIANTS = ("base", "arc", "arc_promises", "arc_always", NO_ABSGRAD)
FILES = ("RasterizeToPixels3DGSBwd.cu", "RasterizeToPixels2DGSBwd.cu")

# ---- the change -------------------------------------------------------------------------------

# What follows the colours: arrays of gradients, and the values that a lane adds to each.
REST = {FILES[0]: {"v_conics": ["v_conic_local.x, v_conic_local.y, v_conic_local.z"],
                   "v_means2d": ["v_xy_local.x, v_xy_local.y"],
                   "v_opacities": ["v_opacity_local"],
                   "v_means2d_abs": ["v_xy_abs_local.x, v_xy_abs_local.y"]},
        FILES[1]: {"v_normals": ["v_normal_local[0], v_normal_local[1], v_normal_local[2]"],
                   "v_ray_transforms": ["v_u_M_local.x, v_u_M_local.y, v_u_M_local.z",
                                        "v_v_M_local.x, v_v_M_local.y, v_v_M_local.z",
                                        "v_w_M_local.x, v_w_M_local.y, v_w_M_local.z"],
                   "v_means2d": ["v_xy_local.x, v_xy_local.y"],
                   "v_opacities": ["v_opacity_local"],
                   "v_means2d_abs": ["v_xy_abs_local.x, v_xy_abs_local.y"]}}
TARGET = """\
    // where a Gaussian's gradients lie; without absgrad the last base is null
    const arc_piece_f32 pieces[] = {
        {v_colors, CDIM, CDIM},
@PIECES@    };
    const arc_target_f32 target = arc_target_f32_pieces(pieces, @COUNT@);
"""
VALUES = """\
            const int32_t g = id_batch[t];
            const float v_rest[] = {
@VALUES@            };
            float v_local[CDIM + @WIDTH@];
#pragma unroll
            for (uint32_t k = 0; k < CDIM + @WIDTH@; ++k) {
                v_local[k] = k < CDIM ? v_rgb_local[k] : v_rest[k - CDIM];
            }
"""
ADD = """\
            arc_add_uniform_f32(
                target, g, v_local, valid, @THRESHOLD@
            );
"""


def use_arc(text, name, variant):
    """The file `name` of gsplat, its sums formed by arc."""
    widths = {array: sum(len(line.split(", ")) for line in lines)
              for array, lines in REST[name].items()}
    rows = "".join(f"        {{(float *){array}, {n}, {n}}},\n" for array, n in widths.items())
    count = 1 + len(widths) - (variant == NO_ABSGRAD)
    target = TARGET.replace("@PIECES@", rows).replace("@COUNT@", str(count))
    always = variant.startswith("arc_always")
    add = ADD.replace("@THRESHOLD@", "0" if always else "ARC_BALANCE_THRESHOLD")
    values = VALUES.replace("@WIDTH@", str(sum(widths.values()))).replace("@VALUES@", "".join(
        f"                {line},\n" for lines in REST[name].values() for line in lines))

    begin = common.line_of(text, common.place(text, "warpSum<CDIM>(", name))
    leader = common.place(text, "if (warp.thread_rank() == 0)", name)
    text = text[:begin] + values + add + text[common.end_of_block(text, leader):]
    loop = common.line_of(text, common.place(text, "for (uint32_t b = 0;", name))
    text = common.insert(text, loop, target)
    include = text.index("\n", common.place(text, '#include "Utils.cuh"', name)) + 1
    macros = f"#define ARC_MAX_PIECES {count}\n"
    macros += "" if variant == "arc" else common.PROMISES
    macros += "#define ARC_PATH ARC_PATH_TRANSPOSED\n" if always else ""
    return common.insert(text, include, macros + '#include "arc.cuh"\n')


# ---- building ---------------------------------------------------------------------------------


def download(folder):
    """The CUDA folder of gsplat's package, unpacked."""
    cuda = folder / "package" / "gsplat" / "cuda"
    if not cuda.exists():
        got = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                              f"gsplat=={VERSION}", "--dest", str(folder)],
                             stderr=subprocess.DEVNULL)
        wheels = list(folder.glob(f"gsplat-{VERSION}*.whl"))
        if got.returncode or not wheels:
            common.fail(f"pip could not download gsplat {VERSION}: is there a network, and pip?")
        zipfile.ZipFile(wheels[0]).extractall(folder / "package")
    return cuda


def build(options):
    folder = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    cuda = download(folder)
    others = re.compile(rf"^__INS__\((?!{splats.CHANNELS}\))\d+\)\n", re.MULTILINE)
    for variant in VARIANTS:
        place, changed = folder / variant, {}
        place.mkdir(parents=True, exist_ok=True)
        for file in cuda.glob("csrc/RasterizeToPixels[23]DGS*.cu"):
            text = after = file.read_text()
            if variant != "base" and file.name in FILES:
                after = use_arc(text, file.name, variant)
                changed[file.name] = common.changed_lines(text, after)
            common.write(place / file.name, others.sub("", after))
        common.keep_changes(place, changed)
        flags = ["--use_fast_math", f"-DCHANNELS={splats.CHANNELS}"]  # gsplat's own, and ours
        common.build(f"gsplat_{variant}", pathlib.Path(__file__).with_name("gsplat_ops.cu"), place,
                     [place, cuda / "csrc", cuda / "include", cuda / "csrc/third_party/glm",
                      common.REPOSITORY], flags + ["-DWITH_FORWARD"] * (variant == "base"),
                     options.arch)


# ---- comparing and timing ---------------------------------------------------------------------


def usable(ops, absgrad):
    return {variant: its for variant, its in ops.items() if not absgrad or variant != NO_ABSGRAD}


def compare(agreement, problem, ops, absgrad):
    """All gradients but v_densify: gsplat reads there what other warps are adding to."""
    def gradients(variant):
        result = problem.gradients(absgrad)
        problem.launch(ops[variant], result)
        return {name: values for name, values in result.items()
                if values is not None and name != "densify"}

    wanted, again = gradients("base"), gradients("base")
    if problem.lists[1] is None and not wanted["colors"].any():
        common.fail("gsplat's own kernel added nothing: was it built for this device?")
    for variant in list(usable(ops, absgrad))[1:]:
        for name, values in gradients(variant).items():
            agreement.add(f"v_{name}, {variant}, {problem.kind}, {problem.size}, {absgrad=}",
                          values, wanted[name], again[name])


def compare_all(agreement, ops, device):
    """Pictures that are no multiple of the tile, one or two of them, all optional arguments."""
    torch.manual_seed(3)
    sizes = ((5, 7, 10, 1, 16), (16, 16, 300, 1, 16), (33, 17, 2000, 2, 16),
             (250, 131, 20000, 2, 16), (250, 131, 20000, 1, 8))
    for width, height, count, images, tile in sizes:
        camera = splats.drawn_camera(width, height, device)
        scene = splats.draw(count, 4.0, camera, device)
        backgrounds = torch.rand(images, splats.CHANNELS, device=device)
        masks = torch.rand(images, -(-height // tile), -(-width // tile), device=device) < 0.7
        for kind in ("3d", "2d"):
            for optional in ((None, None), (backgrounds, None), (backgrounds, masks)):
                problem = splats.Problem(kind, scene, [camera] * images, ops["base"], tile,
                                         *optional)
                for absgrad in (False, True):
                    compare(agreement, problem, ops, absgrad)


def scenes(options, device):
    """(name, scene, camera) of all that is timed."""
    if options.scene:
        scene = splats.read_ply(options.scene, device)
        cameras = splats.read_cameras(options.cameras, options.views, device)
        return [(f"{options.scene.stem} {i}", scene, camera) for i, camera in enumerate(cameras)]
    camera = splats.drawn_camera(1920, 1080, device)
    return [(name, splats.draw(count, pixels, camera, device), camera)
            for name, count, pixels in (("small", 1_000_000, 1.75), ("medium", 300_000, 6.0),
                                        ("large", 50_000, 18.0))]


def measure(options, agreement, ops, table, device):
    for name, scene, camera in scenes(options, device):
        for kind in ("3d", "2d"):
            problem = splats.Problem(kind, scene, [camera], ops["base"])
            for absgrad in (False, True):
                compare(agreement, problem, ops, absgrad)
                gradients = problem.gradients(absgrad)

                def clear():
                    for values in gradients.values():
                        if values is not None:
                            values.zero_()

                able = usable(ops, absgrad)
                launches = [lambda its=its: problem.launch(its, gradients) for its in able.values()]
                results = common.medians(launches, clear, options.launches)
                table.add(f"{kind}gs_backward", name, "absgrad" if absgrad else "plain",
                          dict(zip(able, results)))


def main():
    parser = common.parser("gsplat", __doc__)
    parser.add_argument("--scene", type=pathlib.Path, help="a .ply of 3D Gaussian splatting")
    parser.add_argument("--cameras", type=pathlib.Path, help="a transforms.json")
    parser.add_argument("--views", type=int, default=5, help="how many of the cameras are timed")
    options = parser.parse_args()
    if bool(options.scene) != bool(options.cameras):
        common.fail("--scene and --cameras go together")
    common.run("gsplat", VARIANTS, options, build, compare_all, measure)


if __name__ == "__main__":
    main()
