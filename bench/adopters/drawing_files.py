"""drawing_files.py - cameras and tables of the programs that drawing.py draws with.
SPDX-License-Identifier: Apache-2.0"""
import csv
import json
import pathlib


def text_of(path):
    """The lines that are no comments."""
    return [line for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()
            if not line.startswith("#")]


def read_cameras(path, count, width, height):
    """Of a cameras.txt of examples/gaussians, `count` cameras or all (0), as entries of a
    cameras.json: chosen and resized as its programs do, but the principal point is in the middle,
    since FlashGS has no other."""
    lines, entries = text_of(path)[1:], []
    count = min(count or len(lines), len(lines))
    for line in (lines[i * len(lines) // count] for i in range(count)):
        *numbers, name = line.split(" ", 18)
        old_width, old_height, fx, fy, _, _, *pose = map(float, numbers)
        scale, rows = min(width / old_width, height / old_height), (pose[:4], pose[4:8], pose[8:])
        entries.append({
            "id": len(entries), "img_name": name, "width": width, "height": height,
            "fx": scale * fx, "fy": scale * fy,
            "rotation": [[row[k] for row in rows] for k in range(3)],  # camera to world
            "position": [-sum(row[k] * row[3] for row in rows) for k in range(3)]})
    return entries


def world_to_camera(entry):
    """3 rows of a rotation and a translation."""
    rows = [list(row) for row in zip(*entry["rotation"])]
    return [[*row, -sum(a * b for a, b in zip(row, entry["position"]))] for row in rows]


def write_cameras(entries, folder):
    """cameras.txt for arc, cameras.json for FlashGS."""
    lines = [f"cameras {len(entries)}"]
    for its in entries:
        numbers = (its["width"], its["height"], its["fx"], its["fy"], 0.5 * its["width"],
                   0.5 * its["height"], *sum(world_to_camera(its), []))
        lines.append(" ".join([*(f"{number:.9g}" for number in numbers), its["img_name"]]))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cameras.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "cameras.json").write_text(json.dumps(entries), encoding="utf-8")


def read_table(path):
    return list(csv.DictReader(text_of(path)))
