"""fvdb.py - the backward kernel of fvdb's rasterizer, as it is and with arc, compared and timed.
SPDX-License-Identifier: Apache-2.0

Copies the sources of a checkout, applies fvdb.patch to a second copy, builds the rasterizer's own
file of both with their own headers, but nothing else of fvdb, compares all gradients, and times
the launcher, which clears them first, on drawn scenes. fvdb compiles the file for 22 counts of
channels; here it is for those of --channels. README.md has the commands, and what they need."""
import pathlib
import re

import common  # first: it says where PyTorch is missing
import torch
import splats

COMMIT = "eb2f410fcaff9b63389d49f1b801cbad5d33417a"  # which fvdb.patch was made for
HERE = pathlib.Path(__file__).resolve().parent
VARIANTS = ("base", "arc")
RASTERIZER = "fvdb/detail/ops/gsplat/RasterizeScreenSpaceGaussians"
NAMES = ("means2d", "conics", "colors", "opacities", "means2d_abs")
CHUNKED = 33  # channels that are compared as two or three chunks, too, and not timed

# ---- building ---------------------------------------------------------------------------------


def keep_channels(file, channels):
    """Of the kernels of all counts of channels, those of these. The kernel's text stays."""
    case = re.compile(r"^ +CALL_[FB]WD_\w+\((\d+)\).*\n", re.MULTILINE)
    text = file.read_text()
    found = {int(number) for number in case.findall(text)}
    if not found.issuperset(channels):
        common.fail(f"{file.name} has no kernel for {sorted(set(channels) - found)} channels")
    common.write(file, case.sub(
        lambda line: line[0] if int(line[1]) in channels else "", text))


def build(options):
    if not options.nanovdb or not (options.nanovdb / "nanovdb/NanoVDB.h").exists():
        common.fail("no nanovdb/NanoVDB.h: name the folder nanovdb of a checkout of OpenVDB by "
                    "--nanovdb")
    channels = sorted({*options.channels, CHUNKED})
    for variant in VARIANTS:
        place = options.folder.resolve() / variant
        common.copy(options.checkout, "src", f"{RASTERIZER}Backward.cu", place,
                    HERE / "fvdb.patch" if variant == "arc" else None, COMMIT)
        for direction in ("Backward", "Forward"):
            keep_channels(place / "src" / f"{RASTERIZER}{direction}.cu", channels)
        sources, flags = [HERE / "fvdb_ops.cu"], ["--extended-lambda", "-DNDEBUG"]
        if variant == "base":
            sources.append(place / "src" / f"{RASTERIZER}Forward.cu")
            flags.append("-DWITH_FORWARD")
        common.build(f"fvdb_{variant}", sources, place,
                     [place / "src", options.nanovdb.resolve(), common.REPOSITORY],
                     [*flags, "-DARC_MAX_PIECES=4"], options.arch, standard="c++20")


# ---- comparing --------------------------------------------------------------------------------


class Problem(splats.Problem):
    """The arguments of fvdb's kernel."""

    def render(self, lists):
        backgrounds, masks, *sizes, starts, ids = lists
        given = [backgrounds, masks, *sizes, starts.long(), ids]
        renders, alphas, last = self.forward.forward(*self.splats.values(), *given)
        self.arguments = [*given, alphas, last, *self.upstream([renders, alphas])]
        self.name += f", tiles of {sizes[2]}"

    def launch(self, its, absgrad, packed=False, shared_channels=-1):
        """All gradients, by name. packed: all cameras' Gaussians in one list."""
        given = [values.flatten(0, 1) if packed else values for values in self.splats.values()]
        return dict(zip(NAMES, its.backward(*given, *self.arguments, absgrad, shared_channels)))


def compare(agreement, problem, wanted_of, ops, **how):
    """wanted_of: the same problem, perhaps with other tiles."""
    def run(its):
        return (wanted_of if its is ops["base"] else problem).launch(its, **how)

    agreement.compare("fvdb", f"{problem.name}, {how}", run, ops, problem.is_masked)


def compare_all(options, agreement, ops, device):
    """Pictures that are no multiple of the tile, one or two of them, all optional arguments; tiles
    of 4 and 12 pixels, which are no whole warps, are compared with fvdb's tiles of 16."""
    torch.manual_seed(3)
    for width, height, count, images in ((5, 7, 10, 1), (33, 17, 2000, 2), (250, 131, 20000, 2)):
        camera = splats.drawn_camera(width, height, device)
        scene = splats.draw(count, 4.0, camera, device)
        for channels in sorted({*options.channels, CHUNKED}):
            def problem(*arguments):
                return Problem("3d", scene, [camera] * images, ops["base"], channels, *arguments)

            for optional in splats.optional_arguments("3d", images, width, height, splats.TILE,
                                                      channels, device):
                its = problem(splats.TILE, *optional)
                for absgrad in (False, True):
                    for packed in (False, True):
                        for shared in (-1, 16, 32) if channels == CHUNKED else (-1,):
                            compare(agreement, its, its, ops, absgrad=absgrad, packed=packed,
                                    shared_channels=shared)
            whole = problem(splats.TILE)
            for tile in (4, 8, 12):
                compare(agreement, problem(tile), whole, ops, absgrad=True)


# ---- timing -----------------------------------------------------------------------------------


def measure(options, agreement, ops, table, device):
    for name, scene, camera in splats.drawn_scenes(device):
        for channels in options.channels:
            problem = Problem("3d", scene, [camera], ops["base"], channels)
            for absgrad in (False, True):
                compare(agreement, problem, problem, ops, absgrad=absgrad)
                launches = [lambda its=its: problem.launch(its, absgrad) for its in ops.values()]
                results = common.medians(launches, lambda: None, options.launches)
                case = f"{channels} channels" + (" absgrad" if absgrad else "")
                table.add("backward", name, case, dict(zip(ops, results)))
            del problem  # its memory, before the next one's


# ---- program ----------------------------------------------------------------------------------


def main():
    parser = common.parser("fvdb", __doc__)
    parser.add_argument("checkout", type=pathlib.Path, help=f"of fvdb-core, at {COMMIT[:8]}")
    parser.add_argument("--nanovdb", type=pathlib.Path, help="the folder above nanovdb/NanoVDB.h")
    parser.add_argument("--channels", type=lambda text: [int(word) for word in text.split(",")],
                        default=[3, 16])
    options = parser.parse_args()
    common.run("fvdb", VARIANTS, options, build,
               lambda *rest: compare_all(options, *rest), measure)


if __name__ == "__main__":
    main()
