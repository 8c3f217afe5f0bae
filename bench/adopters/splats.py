"""splats.py - scenes of Gaussians, and what comes before gsplat's backward kernels.
SPDX-License-Identifier: Apache-2.0

Projection and tile lists in plain PyTorch, as gsplat computes them; the forward pass by gsplat."""
import json
import math
import pathlib
import re

import torch

import common

CHANNELS, TILE = 3, 16

# ---- scenes -----------------------------------------------------------------------------------


class Camera:
    """World to camera (x right, y down, z forward) and to pixels."""

    def __init__(self, width, height, fx, fy, cx, cy, rotation, translation):
        self.width, self.height, self.fx, self.fy, self.cx, self.cy = width, height, fx, fy, cx, cy
        self.rotation, self.translation = rotation, translation


def read_cameras(path, count, device):
    """`count` of the frames of a NeRF transforms.json, evenly chosen, as if undistorted."""
    root = json.loads(pathlib.Path(path).read_text())
    frames = root["frames"]
    for i in range(0, len(frames), max(1, len(frames) // count))[:count]:
        at = {**root, **frames[i]}
        width, height = int(at["w"]), int(at["h"])
        fx = at.get("fl_x") or 0.5 * width / math.tan(0.5 * at["camera_angle_x"])
        to_world = torch.tensor(at["transform_matrix"], dtype=torch.float64)[:3]
        rotation = to_world[:, :3].T * torch.tensor([[1.0], [-1.0], [-1.0]])  # OpenGL's y, z
        translation = -rotation @ to_world[:, 3]
        yield Camera(width, height, fx, at.get("fl_y", fx), at.get("cx", 0.5 * width),
                     at.get("cy", 0.5 * height), rotation.float().to(device),
                     translation.float().to(device))


def drawn_camera(width, height, device):
    return Camera(width, height, width, width, 0.5 * width, 0.5 * height,
                  torch.eye(3, device=device), torch.zeros(3, device=device))


def read_ply(path, device):
    """A model in the .ply of 3D Gaussian splatting: floats; of colours the constant part."""
    data = bytearray(pathlib.Path(path).read_bytes())
    begin = data.index(b"end_header\n") + len(b"end_header\n")
    header = data[:begin].decode()
    names = re.findall(r"property float (\S+)", header)
    count = int(re.search(r"element vertex (\d+)", header).group(1))
    if "format binary_little_endian" not in header or header.count("property") != len(names):
        common.fail(f"{path} must be binary_little_endian, all properties float")
    table = torch.frombuffer(data, dtype=torch.float32, offset=begin, count=count * len(names))
    table = table.view(count, len(names)).to(device)

    def columns(*wanted):
        return table[:, [names.index(name) for name in wanted]]

    return {"positions": columns("x", "y", "z"),
            "scales": columns("scale_0", "scale_1", "scale_2").exp(),
            "rotations": columns("rot_0", "rot_1", "rot_2", "rot_3"),
            "opacities": columns("opacity").sigmoid()[:, 0],
            "colors": 0.5 + 0.28209479 * columns("f_dc_0", "f_dc_1", "f_dc_2")}


def draw(count, pixels, camera, device):
    """Gaussians all over the picture of drawn_camera; `pixels`: the mean standard deviation."""
    generator = torch.Generator(device).manual_seed(7)

    def uniform(columns, low=0.0, high=1.0):
        return low + (high - low) * torch.rand(count, columns, device=device, generator=generator)

    depth = uniform(1, 2.0, 6.0)
    at = uniform(2, -0.55, 0.55) * torch.tensor([camera.width, camera.height], device=device)
    normal = torch.randn(count, 5, device=device, generator=generator)
    size = pixels * (0.4 * normal[:, :1] - 0.08).exp()
    return {"positions": torch.cat([at / camera.fx * depth, depth], 1),
            "scales": size * depth / camera.fx * uniform(3, 0.5, 1.5), "rotations": normal[:, 1:],
            "opacities": uniform(1, 0.1, 0.97)[:, 0], "colors": uniform(3)}


# ---- what comes before the kernels ------------------------------------------------------------


def axes(scene, camera):
    """[N, 3, 3]: the axes of each Gaussian, of length 1, in the camera's space, as columns."""
    w, x, y, z = torch.nn.functional.normalize(scene["rotations"]).unbind(1)
    rows = [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
            2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
            2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]
    return camera.rotation @ torch.stack(rows, 1).view(-1, 3, 3)


def project_3d(scene, camera):
    """Ellipses, and the half sides of their boxes."""
    x, y, z = (scene["positions"] @ camera.rotation.T + camera.translation).unbind(1)
    zeros = torch.zeros_like(z)
    slopes = torch.stack([camera.fx / z, zeros, -camera.fx * x / z**2,
                          zeros, camera.fy / z, -camera.fy * y / z**2], 1).view(-1, 2, 3)
    spread = slopes @ (axes(scene, camera) * scene["scales"][:, None, :])
    covariance = spread @ spread.mT + 0.3 * torch.eye(2, device=z.device)
    a, b, c = covariance[:, 0, 0], covariance[:, 0, 1], covariance[:, 1, 1]
    conics = torch.stack([c, -b, a], 1) / (a * c - b * b)[:, None]
    reach = (2 * (255 * scene["opacities"]).clamp(min=1).log()).sqrt().clamp(max=3.33)
    means = torch.stack([camera.fx * x / z + camera.cx, camera.fy * y / z + camera.cy], 1)
    half_sides = (reach[:, None] * torch.stack([a, c], 1).sqrt()).ceil()
    return {"means2d": means, "conics": conics, "colors": scene["colors"],
            "opacities": scene["opacities"]}, half_sides, z


def project_2d(scene, camera):
    """Discs, whose third axis counts as 0, and the half sides of their boxes."""
    at = scene["positions"] @ camera.rotation.T + camera.translation
    own = axes(scene, camera)
    normals = own[:, :, 2] * -(own[:, :, 2] * at).sum(1, keepdim=True).sign()
    pixels = torch.tensor([[camera.fx, 0, camera.cx], [0, camera.fy, camera.cy], [0, 0, 1]],
                          device=at.device)
    m = pixels @ torch.stack([own[:, :, 0] * scene["scales"][:, :1],
                              own[:, :, 1] * scene["scales"][:, 1:2], at], 2)
    test = torch.tensor([1.0, 1.0, -1.0], device=at.device)
    factor = test / (m[:, 2] ** 2 * test).sum(1, keepdim=True)
    means = (m[:, :2] * m[:, 2:] * factor[:, None]).sum(2)
    square = means**2 - (m[:, :2] ** 2 * factor[:, None]).sum(2)
    half_sides = (3.33 * square.clamp(min=1e-4).sqrt()).ceil()
    return {"means2d": means, "ray_transforms": m, "colors": scene["colors"],
            "opacities": scene["opacities"], "normals": normals,
            "densify": torch.zeros_like(means)}, half_sides, at[:, 2]


def list_tiles(means, half_sides, depths, camera, tile):
    """Where each tile's Gaussians begin, row by row of tiles, and their numbers, nearest first."""
    sides = [-(-camera.width // tile), -(-camera.height // tile)]
    limit = torch.tensor(sides, device=means.device)
    low = ((means - half_sides) / tile).floor().clamp(min=0).minimum(limit).long()
    high = ((means + half_sides) / tile).ceil().clamp(min=0).minimum(limit).long()
    spans = (high - low) * (depths > 0.01)[:, None]
    order = depths.argsort()
    counts = spans.prod(1)[order]
    ids = order.repeat_interleave(counts)
    rank = torch.arange(len(ids), device=ids.device)
    rank -= (counts.cumsum(0) - counts).repeat_interleave(counts)
    width = spans[ids, 0]
    tiles = (low[ids, 1] + rank // width) * sides[0] + low[ids, 0] + rank % width
    tiles, by_tile = tiles.sort(stable=True)
    starts = torch.searchsorted(tiles, torch.arange(sides[0] * sides[1], device=ids.device))
    return starts.view(sides[1], sides[0]).int(), ids[by_tile].int()


class Problem:
    """The arguments of a backward kernel: of all cameras, which have one size, in one launch."""

    def __init__(self, kind, scene, cameras, forward, tile=TILE, backgrounds=None, masks=None):
        self.kind, splats, offsets, ids, listed = kind, [], [], [], 0
        for image, camera in enumerate(cameras):
            project = project_3d if kind == "3d" else project_2d
            values, half_sides, depths = project(scene, camera)
            starts, these = list_tiles(values["means2d"], half_sides, depths, camera, tile)
            splats.append(values)
            offsets.append(starts + listed)
            ids.append(these + image * len(depths))
            listed += len(these)
        self.splats = {name: torch.stack([values[name] for values in splats]).contiguous()
                       for name in splats[0]}
        camera, device = cameras[0], depths.device
        self.size = (len(cameras), camera.height, camera.width)
        self.lists = [backgrounds, masks, camera.width, camera.height, tile,
                      torch.stack(offsets), torch.cat(ids)]
        rendered = [torch.zeros(*self.size, n, device=device)
                    for n in ((CHANNELS, 1) if kind == "3d" else (CHANNELS, 1, 3, 1, 1))]
        last = [torch.zeros(*self.size, device=device, dtype=torch.int32)
                for _ in range(1 if kind == "3d" else 2)]
        given = [t for name, t in self.splats.items() if name != "densify"]
        getattr(forward, f"forward_{kind}")(*given, *self.lists, *rendered, *last)
        generator = torch.Generator(device).manual_seed(9)
        upstream = [torch.randn(t.shape, device=device, generator=generator) for t in rendered]
        self.seen = rendered[1 if kind == "3d" else 0:2] + last + upstream

    def gradients(self, absgrad):
        absolute = torch.zeros_like(self.splats["means2d"]) if absgrad else None
        return {"means2d_abs": absolute,
                **{name: torch.zeros_like(values) for name, values in self.splats.items()}}

    def launch(self, ops, gradients):
        getattr(ops, f"backward_{self.kind}")(*self.splats.values(), *self.lists, *self.seen,
                                              *gradients.values())
