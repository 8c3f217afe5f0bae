"""splats.py - scenes of Gaussians, and what comes before gsplat's backward kernels.
SPDX-License-Identifier: Apache-2.0

For each kernel alone: projection and tile lists in plain PyTorch, as gsplat computes them, and the
forward pass by gsplat. For a whole gradient step all of it by gsplat. fvdb.py takes the same lists,
and fvdb's own forward pass."""
import collections
import json
import math
import pathlib
import re

import torch

import common

KINDS = ["3d", "sparse", "2d", "world"]
TILES = {"3d": (16, 4), "sparse": (16, 4), "2d": (16, 4), "world": (16, 8)}  # that gsplat supports
TILE = 16

# ---- scenes -----------------------------------------------------------------------------------


# World to camera (x right, y down, z forward) and to pixels.
Camera = collections.namedtuple("Camera", "width height fx fy cx cy rotation translation")


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


def read_ply(path, device, harmonics=False):
    """A model in the .ply of 3D Gaussian splatting: floats; of colours the constant part, and on
    demand all as [N, 16, 3], which are 0 beyond the model's degree."""
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

    scene = {}
    if harmonics:
        rest = columns(*(f"f_rest_{i}" for i in range(len(names)) if f"f_rest_{i}" in names))
        rest = rest.view(count, 3, rest.shape[1] // 3).mT  # the file has them channel by channel
        scene["harmonics"] = torch.zeros(count, 16, 3, device=device)
        scene["harmonics"][:, 0] = columns("f_dc_0", "f_dc_1", "f_dc_2")
        scene["harmonics"][:, 1:1 + rest.shape[1]] = rest
    return {**scene, "positions": columns("x", "y", "z"),
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


def drawn_scenes(device):
    """(name, scene, camera) of those that are timed."""
    camera = drawn_camera(1920, 1080, device)
    for name, count, pixels in (("small", 1_000_000, 1.75), ("medium", 300_000, 6.0),
                                ("large", 50_000, 18.0)):
        yield name, draw(count, pixels, camera, device), camera


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

    def slope(x, f, size, center):  # of what lies far outside, as gsplat has it: nearer the edge
        edge = 0.15 * size
        return -((f * x / z).clamp(-center - edge, size - center + edge) / z)

    slopes = torch.stack([camera.fx / z, zeros, slope(x, camera.fx, camera.width, camera.cx),
                          zeros, camera.fy / z, slope(y, camera.fy, camera.height, camera.cy)],
                         1).view(-1, 2, 3)
    spread = slopes @ (axes(scene, camera) * scene["scales"][:, None, :])
    covariance = spread @ spread.mT + 0.3 * torch.eye(2, device=z.device)
    a, b, c = covariance[:, 0, 0], covariance[:, 0, 1], covariance[:, 1, 1]
    conics = torch.stack([c, -b, a], 1) / (a * c - b * b)[:, None]
    reach = (2 * (255 * scene["opacities"]).clamp(min=1).log()).sqrt().clamp(max=3.33)
    means = torch.stack([camera.fx * x / z + camera.cx, camera.fy * y / z + camera.cy], 1)
    half_sides = (reach[:, None] * torch.stack([a, c], 1).sqrt()).ceil()
    return {"means2d": means, "conics": conics}, half_sides, z


def pixels_of(camera):
    """[3, 3]: the camera's space to pixels."""
    return torch.tensor([[camera.fx, 0, camera.cx], [0, camera.fy, camera.cy], [0, 0, 1]],
                        device=camera.rotation.device)


def project_2d(scene, camera):
    """Discs, whose third axis counts as 0, and the half sides of their boxes."""
    at = scene["positions"] @ camera.rotation.T + camera.translation
    own = axes(scene, camera)
    normals = own[:, :, 2] * -(own[:, :, 2] * at).sum(1, keepdim=True).sign()
    sides = own[:, :, :2] * scene["scales"][:, None, :2]
    m = pixels_of(camera) @ torch.cat([sides, at[:, :, None]], 2)
    test = torch.tensor([1.0, 1.0, -1.0], device=at.device)
    factor = test / (m[:, 2] ** 2 * test).sum(1, keepdim=True)
    means = (m[:, :2] * m[:, 2:] * factor[:, None]).sum(2)
    square = means**2 - (m[:, :2] ** 2 * factor[:, None]).sum(2)
    half_sides = (3.33 * square.clamp(min=1e-4).sqrt()).ceil()
    return {"means2d": means, "ray_transforms": m, "normals": normals}, half_sides, at[:, 2]


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


def with_channels(colors, channels):
    """Colours of that many channels: the first are the scene's, the others repeat them."""
    return colors.repeat(1, -(-channels // colors.shape[1]))[:, :channels].contiguous()


def world_of(scene):
    return {"means": scene["positions"].contiguous(), "quats": scene["rotations"].contiguous(),
            "scales": scene["scales"].contiguous()}


def view_of(camera):
    """World to camera [1, 4, 4], and camera to pixels [1, 3, 3]."""
    view = torch.eye(4, device=camera.rotation.device)
    view[:3, :3], view[:3, 3] = camera.rotation, camera.translation
    return view[None], pixels_of(camera)[None]


def optional_arguments(kind, images, width, height, tile, channels, device):
    """(backgrounds, masks) to try."""
    yield None, None
    if kind in ("3d", "2d"):
        backgrounds = torch.rand(images, channels, device=device)
        masks = torch.rand(images, -(-height // tile), -(-width // tile), device=device) < 0.7
        yield backgrounds, None
        yield backgrounds, masks


def sparse_layout(images, height, width, tile, device):
    """A fourth of the pixels, drawn, in the layout of gsplat's build_sparse_tile_layout, with all
    tiles: their pixels as bits, how many there are up to each tile, and the pixels' places."""
    down, across = -(-height // tile), -(-width // tile)
    generator = torch.Generator(device).manual_seed(11)
    wanted = torch.rand(images, down * tile, across * tile, device=device, generator=generator)
    wanted[:, height:], wanted[:, :, width:] = 1, 1
    wanted = wanted < 0.25
    numbers = (wanted.flatten().cumsum(0) - 1).view_as(wanted)  # in the order of a picture's pixels

    def by_tile(values):
        return values.view(images, down, tile, across, tile).transpose(2, 3).reshape(
            -1, tile * tile)

    wanted, numbers = by_tile(wanted), by_tile(numbers)
    bits = torch.nn.functional.pad(wanted, (0, -wanted.shape[1] % 64)).view(len(wanted), -1, 64)
    words = (bits.long() << torch.arange(64, device=device)).sum(2)  # bit 63 is the sign
    return words.view(torch.uint64), wanted.sum(1).cumsum(0), numbers[wanted]


class Problem:
    """The arguments of a backward kernel: of all cameras, which have one size, in one launch."""

    def __init__(self, kind, scene, cameras, forward, channels, tile=TILE, backgrounds=None,
                 masks=None):
        self.kind, self.channels, self.forward = kind, channels, forward
        self.is_masked = masks is not None
        self.absgrads = (False,) if kind == "world" else (False, True)
        camera, self.images = cameras[0], len(cameras)
        self.size = (self.images, camera.height, camera.width)
        self.name = f"{kind}, {self.size}, {channels} channels"
        self.list(scene, cameras, tile)
        sizes = [camera.width, camera.height, tile]
        if kind == "world":
            self.render_world(scene, cameras, sizes)
        elif kind == "sparse":
            self.render_sparse(sizes)
        else:
            self.render([backgrounds, masks, *sizes, self.starts, self.ids])

    def list(self, scene, cameras, tile):
        """The projected splats, and the tiles' lists."""
        splats, starts, ids, listed = [], [], [], 0
        for image, camera in enumerate(cameras):
            project = project_2d if self.kind == "2d" else project_3d
            values, half_sides, depths = project(scene, camera)
            first, these = list_tiles(values["means2d"], half_sides, depths, camera, tile)
            splats.append({**values, "opacities": scene["opacities"],
                           "colors": with_channels(scene["colors"], self.channels)})
            starts.append(first + listed)
            ids.append(these + image * len(depths))
            listed += len(these)
        names = {"3d": "means2d conics colors opacities",
                 "2d": "means2d ray_transforms colors opacities normals"}
        names = names["2d" if self.kind == "2d" else "3d"].split()
        self.splats = {name: torch.stack([values[name] for values in splats]).contiguous()
                       for name in names}
        self.starts, self.ids = torch.stack(starts), torch.cat(ids)

    def rendered(self, *widths, shape=None):
        shape = self.size if shape is None else shape
        return [torch.zeros(*shape, width, device=self.ids.device) for width in widths]

    def last(self, count, shape=None):
        return [torch.zeros(self.size if shape is None else shape, device=self.ids.device,
                            dtype=torch.int32) for _ in range(count)]

    def upstream(self, rendered):
        """As of a loss that is a mean over a million pixels."""
        generator = torch.Generator(self.ids.device).manual_seed(9)
        return [torch.randn(values.shape, device=values.device, generator=generator) * 2**-20
                for values in rendered]

    def render(self, lists):
        """The 3D and the 2D kernel."""
        is_2d = self.kind == "2d"
        rendered = self.rendered(self.channels, 1, *((3, 1, 1) if is_2d else ()))
        last = self.last(2 if is_2d else 1)
        getattr(self.forward, f"forward_{self.kind}")(*self.splats.values(), *lists, *rendered,
                                                      *last)
        if is_2d:
            self.splats["densify"] = torch.zeros_like(self.splats["means2d"])
        self.arguments = [*self.splats.values(), *lists, *rendered[0 if is_2d else 1:2], *last,
                          *self.upstream(rendered)]

    def render_sparse(self, sizes):
        """Each fourth pixel: all tiles have some."""
        device, (down, across) = self.ids.device, self.starts.shape[1:]
        words, counts, places = sparse_layout(*self.size, sizes[2], device)
        tiles = torch.arange(self.starts.numel(), device=device, dtype=torch.int32)
        end = torch.tensor([len(self.ids)], device=device, dtype=torch.int32)
        lists = [None, None, *sizes, across, down, tiles, torch.cat([self.starts.flatten(), end]),
                 self.ids, words, counts, places]
        rendered = self.rendered(self.channels, 1, shape=(len(places),))
        last = self.last(1, shape=(len(places),))
        self.forward.forward_sparse(*self.splats.values(), *lists, *rendered, *last)
        self.arguments = [*self.splats.values(), *lists, rendered[1], *last,
                          *self.upstream(rendered)]

    def render_world(self, scene, cameras, sizes):
        views, pixels = map(torch.cat, zip(*map(view_of, cameras)))
        colors, opacities = self.splats["colors"], self.splats["opacities"]
        self.splats = {**world_of(scene), "colors": colors, "opacities": opacities}
        per_tile, offsets, state = self.forward.batches(self.starts, self.ids, sizes[2],
                                                        self.channels)
        lists = [*sizes, views, pixels, self.starts, self.ids, per_tile, offsets]
        rendered, last = self.rendered(self.channels, 1), self.last(1)
        self.forward.forward_world(*self.splats.values(), *lists, *rendered, *last, state)
        self.arguments = [*self.splats.values(), *lists, rendered[1], *last, state,
                          *self.upstream(rendered)]

    def gradients(self, absgrad):
        zeros = {name: torch.zeros_like(values) for name, values in self.splats.items()}
        if self.kind == "world":
            return zeros
        return {"means2d_abs": torch.zeros_like(zeros["means2d"]) if absgrad else None, **zeros}

    def launch(self, ops, gradients):
        getattr(ops, f"backward_{self.kind}")(*self.arguments, *gradients.values())


class Step:
    """A gradient step by gsplat's 3D kernels, as its operators launch them."""

    def __init__(self, scene, camera, base, channels):
        self.base, self.channels, self.world = base, channels, world_of(scene)
        self.colors = with_channels(scene["colors"], channels)[None]
        self.opacities = scene["opacities"].contiguous()
        self.view, self.sizes = view_of(camera), (camera.width, camera.height)
        generator = torch.Generator(self.colors.device).manual_seed(9)
        self.upstream = [torch.randn(1, camera.height, camera.width, n, device=self.colors.device,
                                     generator=generator) for n in (channels, 1)]

    def empty(self, *shape, dtype=torch.float32):
        return torch.empty(shape, device=self.colors.device, dtype=dtype)

    def run(self, ops):
        """With the backward kernel of `ops`, or without one. Gradients of the world, by name."""
        width, height = self.sizes
        count, opacities = len(self.opacities), self.opacities[None]
        tiles = [-(-width // TILE), -(-height // TILE)]
        radii, means2d = self.empty(1, count, 2, dtype=torch.int32), self.empty(1, count, 2)
        depths, conics = self.empty(1, count), self.empty(1, count, 3)
        self.base.project(*self.world.values(), self.opacities, *self.view, width, height, radii,
                          means2d, depths, conics)
        lists = self.base.sort(means2d, radii, depths, conics, opacities, TILE, *tiles)
        splats = [means2d, conics, self.colors, opacities]
        given = [None, None, width, height, TILE, *lists]
        renders, alphas = (self.empty(1, height, width, n) for n in (self.channels, 1))
        last = self.empty(1, height, width, dtype=torch.int32)
        self.base.forward_3d(*splats, *given, renders, alphas, last)
        slopes = [torch.zeros_like(values) for values in splats]
        if ops is not None:
            ops.backward_3d(*splats, *given, alphas, last, *self.upstream, None, *slopes)
        world = {name: torch.zeros_like(values) for name, values in self.world.items()}
        self.base.project_backward(*self.world.values(), *self.view, width, height, radii, conics,
                                   slopes[0], torch.zeros_like(depths), slopes[1], *world.values())
        return world
