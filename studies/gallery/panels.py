#!/usr/bin/env python3
"""panels.py - pictures side by side, a caption below each. SPDX-License-Identifier: Apache-2.0

usage: panels.py OUT.png PICTURE CAPTION [PICTURE CAPTION]...

PICTURE is a PNG or PPM file, or a part of one: FILE@X,Y,WIDTH,HEIGHT. What is wider than 800 pixels
is shrunk to that. OUT.png has 256 colours. Needs Pillow 10.1.
Exit status: 0 done, 2 bad option or file, 77 skipped: no Pillow."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench/analysis"))
import results  # noqa: E402

try:
    from PIL import Image, ImageDraw, ImageFont
except ModuleNotFoundError:
    Image = None
MOST, GAP, LETTERS, BELOW = 800, 6, 15, 24  # pixels


def read(word):
    name, _, part = word.partition("@")
    try:
        picture = Image.open(name).convert("RGB")
        if part:
            x, y, width, height = map(int, part.split(","))
            picture = picture.crop((x, y, x + width, y + height))
    except (OSError, ValueError) as reason:
        raise results.Bad(f"'{word}': {reason}")
    picture.thumbnail((MOST, MOST))
    return picture


def join(pictures, captions):
    width = sum(picture.width + GAP for picture in pictures) - GAP
    height = max(picture.height for picture in pictures)
    out, x = Image.new("RGB", (width, height + BELOW), "white"), 0
    for picture, caption in zip(pictures, captions):
        out.paste(picture, (x, height - picture.height))
        ImageDraw.Draw(out).text((x + picture.width // 2, height + BELOW // 2), caption, "#1b1f24",
                                 ImageFont.load_default(LETTERS), anchor="mm")
        x += picture.width + GAP
    return out.quantize(256, kmeans=8)


def main(words):
    if len(words) < 3 or len(words) % 2 == 0:
        raise results.Bad("give OUT.png, then pictures, each with its caption")
    if Image is None:
        raise results.Skip("no Pillow; `python3 -m pip install pillow` brings it")
    out = join([read(word) for word in words[1::2]], words[2::2])
    results.write_whole(words[0], lambda partial: out.save(partial, optimize=True))
    print(f"written    {words[0]}")
    return 0


if __name__ == "__main__":
    results.run(main)
