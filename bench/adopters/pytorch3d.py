"""pytorch3d.py - PyTorch3D's mesh gradients, as they are and with arc, compared and timed.
SPDX-License-Identifier: Apache-2.0

Copies the sources of a checkout, applies a patch to each copy but the first, builds the rasterizer
of each, compares the gradients of the faces, and times the launcher, which clears them first, on
drawn meshes. README.md has the commands, and what they need."""
import math
import pathlib

import common  # first: it says where PyTorch is missing
import torch

COMMIT = "9381c4016376345bb795b97c45a6c2de66db354a"  # which the patches were made for
HERE = pathlib.Path(__file__).resolve().parent
SOURCES = "pytorch3d/csrc"
PATCHES = {"base": None, "arc_divergent": "pytorch3d_divergent.patch", "arc": "pytorch3d.patch"}

# ---- building ---------------------------------------------------------------------------------


def build(options):
    for variant, patch in PATCHES.items():
        place = options.folder.resolve() / variant
        common.copy(options.checkout, SOURCES, "rasterize_meshes/rasterize_meshes.cu", place,
                    patch and HERE / patch, COMMIT)
        sources = place / SOURCES
        common.build(f"pytorch3d_{variant}", [HERE / "pytorch3d_ops.cu"], place,
                     [sources / "rasterize_meshes", sources, common.REPOSITORY], [], options.arch)


# ---- meshes -----------------------------------------------------------------------------------


def surface(n, device):
    """The 2 n n triangles [F, 3, 2] between whole numbers 0..n in two directions."""
    row, column = torch.meshgrid(*[torch.arange(n, device=device)] * 2, indexing="ij")
    corners = [torch.stack([row + a, column + b], -1).view(-1, 2)
               for a, b in ((0, 0), (1, 0), (0, 1), (1, 1))]
    return torch.cat([torch.stack([corners[i] for i in three], 1)
                      for three in ((0, 1, 2), (3, 2, 1))]).float()


def plane(n, device):
    at = surface(n, device) / n * 1.9 - 0.95
    return torch.cat([at, 2.0 + 0.3 * at[:, :, :1]], 2)


def sphere(n, device):
    theta, phi = (surface(n, device) * math.pi / n).unbind(2)
    phi = 2 * phi
    return torch.stack([theta.sin() * phi.cos(), theta.cos(), theta.sin() * phi.sin()], 2) \
        * 0.9 + torch.tensor([0.0, 0.0, 2.0], device=device)


class Problem:
    """The arguments of the backward launcher: one mesh, seen `images` times."""

    def __init__(self, faces, forward, height, width, images, per_pixel, blur):
        device, count = faces.device, len(faces)
        first = torch.arange(images, device=device) * count
        all_ = faces.repeat(images, 1, 1).contiguous()
        self.flags = (True, blur > 0)  # perspective, clipping
        found, *rendered = forward.forward(
            all_, first, torch.full_like(first, count),
            torch.full((len(all_),), -1, device=device), height, width, blur, per_pixel,
            *self.flags, False)
        generator = torch.Generator(device).manual_seed(9)
        depth, weights, distances = (torch.randn(t.shape, device=device, generator=generator)
                                     for t in rendered)
        self.tensors = (all_, found, depth, weights, distances)

    def launch(self, ops):
        return ops.backward(*self.tensors, *self.flags)


# ---- comparing and timing ---------------------------------------------------------------------


def compare(agreement, what, problem, ops):
    agreement.compare("PyTorch3D", what, lambda its: {"faces": problem.launch(its)}, ops)


def compare_all(agreement, ops, device):
    for height, width, images in ((1, 1, 1), (7, 5, 1), (33, 65, 3), (250, 131, 2)):
        for n in (1, 8, 60):
            for per_pixel, blur in ((1, 0.0), (4, 1e-4)):
                problem = Problem(sphere(n + 2, device), ops["base"], height, width, images,
                                  per_pixel, blur)
                compare(agreement, f"{height} x {width}, {n}, {per_pixel}", problem, ops)


def measure(options, agreement, ops, table, device):
    meshes = {f"plane {n}": plane(n, device) for n in (1, 16, 256)}
    meshes.update({f"sphere {n}": sphere(n, device) for n in (8, 32, 128)})
    for name, faces in meshes.items():
        for per_pixel, blur in ((1, 0.0), (8, 1e-4)):
            problem = Problem(faces, ops["base"], 1024, 1024, 1, per_pixel, blur)
            compare(agreement, f"{name}, {per_pixel}", problem, ops)
            results = common.medians([lambda its=its: problem.launch(its) for its in ops.values()],
                                     lambda: None, options.launches)
            table.add("mesh_backward", f"{name} ({len(faces)} faces)",
                      f"{per_pixel} a pixel", dict(zip(ops, results)))


def main():
    parser = common.parser("pytorch3d", __doc__)
    parser.add_argument("checkout", type=pathlib.Path, help=f"of PyTorch3D, at {COMMIT[:8]}")
    common.run("pytorch3d", tuple(PATCHES), parser.parse_args(), build, compare_all, measure)


if __name__ == "__main__":
    main()
