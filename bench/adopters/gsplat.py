"""gsplat.py - gsplat's backward kernels, as they are and with arc, compared and timed.
SPDX-License-Identifier: Apache-2.0

Copies the CUDA sources of a checkout, applies gsplat.patch to a second copy, builds those files of
both that rasterize into one library, compares all gradients, and times the backward kernels and a
whole gradient step on drawn scenes or a trained one. --deterministic adds a third copy, whose sums
are the same bytes in every run. README.md has the commands, and what they need."""
import pathlib
import sys

import common  # first: it says where PyTorch is missing
import torch
import splats

sys.path.append(str(common.REPOSITORY / "bench/analysis"))
import ncu_profile
import results

COMMIT = "90d7b4b349e379ccf9ee6a8cef76aa40f48bb32e"  # which gsplat.patch was made for
HERE = pathlib.Path(__file__).resolve().parent
LIBRARY, CUDA = "gsplat_adopters", "gsplat/cuda"
BACKWARD = ("RasterizeToPixels3DGSSerialBatchBwd.cu", "RasterizeToPixelsSparseBwd.cu",
            "RasterizeToPixels2DGSSerialBatchBwd.cu",
            "RasterizeToPixelsFromWorld3DGSParallelBatchBwd.cu", "Lidar.cpp", "Utils.cpp")
FORWARD = ("RasterizeToPixels3DGSSerialBatchFwd.cu", "RasterizeToPixelsSparseFwd.cu",
           "RasterizeToPixels2DGSSerialBatchFwd.cu",
           "RasterizeToPixelsFromWorld3DGSSerialBatchFwd.cu", "ProjectionEWA3DGSFused.cu",
           "IntersectTile.cu")
RUNS = 10  # that must give the same bytes

# ---- building ---------------------------------------------------------------------------------


def variants(options):
    return ("base", "arc", "wide") if options.deterministic else ("base", "arc")


def wrap(folder, variant, file):
    """A source that compiles `file` into a namespace of its variant. Returns its path."""
    wide = "#define GSPLAT_DETERMINISTIC 1\n" if variant == "wide" else ""
    forward = "#define WITH_FORWARD\n" if variant == "base" else ""
    path = folder / f"{variant}_{file.stem}.cu"
    common.write(path, f'#define gsplat gsplat_{variant}\n{wide}{forward}#include "{file}"\n')
    return path


def build(options):
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    sources = []
    for variant in variants(options):
        common.copy(options.checkout, CUDA, f"csrc/{BACKWARD[0]}", folder / variant,
                    None if variant == "base" else HERE / "gsplat.patch", COMMIT)
        cuda = folder / variant / CUDA
        files = BACKWARD + (FORWARD if variant == "base" else ())
        sources += [wrap(folder, variant, cuda / "csrc" / file) for file in files]
        sources.append(wrap(folder, variant, HERE / "gsplat_ops.cu"))
    # A file finds what lies beside it first: of what both have, only GradientSums.cuh is shared.
    cuda = folder / "arc" / CUDA
    channels = "\\,".join(map(str, options.channels))
    common.build(LIBRARY, sources, folder,
                 [cuda / "include", cuda / "csrc",
                  common.find_glm(options, options.checkout / "gsplat"), common.REPOSITORY],
                 ["-use_fast_math", "-DNDEBUG", "-DARC_MAX_PIECES=7",
                  f"-DARC_WIDE_WORDS={options.words}", f"'-DGSPLAT_NUM_CHANNELS={channels}'"],
                 options.arch, standard="c++20")


def load(options):
    common.load(options.folder, LIBRARY)
    return {variant: getattr(torch.ops, f"gsplat_{variant}") for variant in variants(options)}


# ---- comparing --------------------------------------------------------------------------------


def run_once(problem, its, absgrad):
    """All gradients, by name."""
    result = problem.gradients(absgrad)
    problem.launch(its, result)
    return {name: values for name, values in result.items() if values is not None}


def compare_runs(agreement, what, run):
    """That all runs of deterministic sums give the same bytes."""
    first = run()
    for _ in range(RUNS - 1):
        for name, values in run().items():
            agreement.same(f"v_{name}, wide, {what}", values, first[name])


def compare(agreement, problem, ops, absgrad):
    what = f"{problem.name}, {absgrad=}"
    agreement.compare("gsplat", what, lambda its: run_once(problem, its, absgrad), ops,
                      problem.is_masked)
    if "wide" in ops:
        compare_runs(agreement, what, lambda: run_once(problem, ops["wide"], absgrad))


def compare_all(options, agreement, ops, device):
    """Pictures that are no multiple of the tile, one or two of them, all optional arguments."""
    torch.manual_seed(3)
    sizes = ((5, 7, 10, 1, 0), (16, 16, 300, 1, 0), (33, 17, 2000, 2, 0), (250, 131, 20000, 2, 0),
             (250, 131, 20000, 1, 1))
    for width, height, count, images, which in sizes:
        camera = splats.drawn_camera(width, height, device)
        scene = splats.draw(count, 4.0, camera, device)
        for kind in options.kernels:
            tile = splats.TILES[kind][which]
            for channels in options.channels:
                for optional in splats.optional_arguments(kind, images, width, height, tile,
                                                          channels, device):
                    problem = splats.Problem(kind, scene, [camera] * images, ops["base"], channels,
                                             tile, *optional)
                    for absgrad in problem.absgrads:
                        compare(agreement, problem, ops, absgrad)


# ---- timing -----------------------------------------------------------------------------------


def scenes(options, device):
    """(name, scene, camera) of all that is timed."""
    if options.scene:
        scene = splats.read_ply(options.scene, device)
        cameras = splats.read_cameras(options.cameras, options.views, device)
        return [(f"{options.scene.stem} {i}", scene, camera) for i, camera in enumerate(cameras)]
    return list(splats.drawn_scenes(device))


def clearing(gradients):
    def clear():
        for values in gradients.values():
            if values is not None:
                values.zero_()
    return clear


def measure_kernel(options, agreement, ops, table, scene_name, problem):
    for absgrad in problem.absgrads:
        compare(agreement, problem, ops, absgrad)
        gradients = problem.gradients(absgrad)
        launches = [lambda its=its: problem.launch(its, gradients) for its in ops.values()]
        results = common.medians(launches, clearing(gradients), options.launches)
        case = f"{problem.channels} channels" + (" absgrad" if absgrad else "")
        table.add(f"{problem.kind}_backward", scene_name, case, dict(zip(ops, results)))


def measure_step(options, agreement, ops, table, scene_name, scene, camera):
    """Projection, sorting, forward, backward, projection's backward, all but one as they are. What
    a backward pass without cost would leave is the bound of any gain."""
    step = splats.Step(scene, camera, ops["base"], options.channels[0])
    if options.deterministic:
        compare_runs(agreement, f"a step, {scene_name}", lambda: step.run(ops["wide"]))
    whole = [lambda its=its: step.run(its) for its in ops.values()]
    results = common.medians([*whole, lambda: step.run(None)], lambda: None, options.launches)
    table.add("step", scene_name, f"{step.channels} channels",
              dict(zip([*ops, "without backward"], results)))


def measure(options, agreement, ops, table, device):
    for name, scene, camera in scenes(options, device):
        for kind in options.kernels:
            for channels in options.channels:
                problem = splats.Problem(kind, scene, [camera], ops["base"], channels)
                measure_kernel(options, agreement, ops, table, name, problem)
                del problem  # its memory, before the next one's
        if "3d" in options.kernels:
            measure_step(options, agreement, ops, table, name, scene, camera)


# ---- counting ---------------------------------------------------------------------------------

METRICS = ("smsp__inst_executed.sum", "smsp__inst_executed_op_global_red.sum")


def launch_each_once(options, ops, device):
    """One launch a scene, kernel and variant, at the first channel count, for ncu."""
    for _, scene, camera in scenes(options, device):
        for kind in options.kernels:
            problem = splats.Problem(kind, scene, [camera], ops["base"], options.channels[0])
            for its in ops.values():
                problem.launch(its, problem.gradients(False))
    torch.cuda.synchronize()


def count(options):
    """Warp instructions by Nsight Compute. Up to 32 sums leave a warp in one instruction, so that
    those of `arc` are the steps in which a warp has anything to add."""
    words = [word for word in sys.argv[1:] if word != "--count"]
    lines, rows = ncu_profile.run_ncu(options.ncu, METRICS, [
        "--clock-control", "none", "--kernel-name", "regex:rasterize.*_bwd_kernel",
        sys.executable, __file__, *words, "--run", "--once"])
    each = len(variants(options))
    if not rows or len(rows) % each:
        raise results.Bad(f"{len(rows)} kernels were counted: {lines[-1]}")
    for first in range(0, len(rows), each):
        found = [[float(row[metric][0]) for metric in METRICS] for row in rows[first:first + each]]
        steps, place = found[1][1], first // each
        kind = options.kernels[place % len(options.kernels)]
        for variant, (instructions, requests) in zip(variants(options), found):
            print(f"scene {place // len(options.kernels)}, {kind}, {variant}: "
                  f"{instructions / steps:.1f} warp instructions a step, "
                  f"{requests / steps:.2f} requests")


# ---- program ----------------------------------------------------------------------------------


def numbers(text):
    return [int(word) for word in text.split(",")]


def parse():
    parser = common.parser("gsplat", __doc__)
    parser.add_argument("checkout", type=pathlib.Path, help=f"of gsplat, at commit {COMMIT[:8]}")
    parser.add_argument("--glm", type=pathlib.Path, help="default: the checkout's submodule")
    parser.add_argument("--deterministic", action="store_true",
                        help="sums that repeat, too")
    parser.add_argument("--words", type=int, default=6, help="ARC_WIDE_WORDS of these")
    parser.add_argument("--channels", type=numbers, default=[3, 16, 32, 64])
    parser.add_argument("--kernels", type=lambda text: text.split(","), default=splats.KINDS,
                        help="some of " + ",".join(splats.KINDS))
    parser.add_argument("--scene", type=pathlib.Path, help="a .ply of 3D Gaussian splatting")
    parser.add_argument("--cameras", type=pathlib.Path, help="a transforms.json")
    parser.add_argument("--views", type=int, default=5, help="how many of the cameras are timed")
    parser.add_argument("--count", action="store_true", help="warp instructions a step, by ncu")
    parser.add_argument("--once", action="store_true", help="launches each kernel once, no more")
    parser.add_argument("--ncu", default="ncu")
    options = parser.parse_args()
    if bool(options.scene) != bool(options.cameras):
        common.fail("--scene and --cameras go together")
    return options


def main(_):
    options = parse()
    if options.count:
        count(options)
    elif options.once:
        launch_each_once(options, load(options), torch.device("cuda"))
    else:
        common.run("gsplat", variants(options), options, build,
                   lambda *rest: compare_all(options, *rest), measure, load)


if __name__ == "__main__":
    results.run(main)
