"""gaussians.py - pictures of a 3DGS model, from Python. SPDX-License-Identifier: Apache-2.0

    picture = gaussians.draw("fox.ply", camera, 1920, 1080)    # rows of pixels of 3 bytes
    numpy.asarray(picture)                                     # the same memory, 1080 x 1920 x 3

camera: a line of a scene's cameras.txt, or its numbers: width, height, fx, fy, cx, cy in pixels,
and 3 rows of 4 from the world to the camera. Its picture is drawn in the size that is asked for.
Needs the shared library that the build lays beside this file; draws on the GPU where it was built
for one, else on the CPU warp. Raises ValueError, with one line, where the file, the camera or the
size is wrong, and FileNotFoundError where no library is there."""
import ctypes
import functools
import operator
import os


@functools.cache
def _library():
    here = os.path.dirname(os.path.abspath(__file__))
    names = [os.path.join(here, f"libgaussians_{build}.so") for build in ("gpu", "simt")]
    there = [name for name in names if os.path.exists(name)]
    if not there:
        raise FileNotFoundError(f"neither {names[0]} nor {names[1]} is there; the build lays one "
                                "beside its copy of gaussians.py")
    function = ctypes.CDLL(there[0]).gaussians_draw
    function.argtypes = [ctypes.c_char_p] * 2 + [ctypes.c_int] * 2 + [ctypes.c_void_p]
    function.restype = ctypes.c_char_p
    return function


def draw(ply, camera, width, height):
    line = camera if isinstance(camera, str) else " ".join(map(str, camera)) + " view"
    try:
        width, height = operator.index(width), operator.index(height)
    except TypeError:
        raise ValueError(f"width and height must be whole numbers, not {width!r} and "
                         f"{height!r}") from None
    if not (1 <= width <= 16384 and 1 <= height <= 16384):
        raise ValueError(f"width and height must be 1 to 16384, not {width} and {height}")
    pixels = bytearray(3 * width * height)
    place = (ctypes.c_char * len(pixels)).from_buffer(pixels)
    wrong = _library()(os.fsencode(ply), line.encode(), width, height, place)
    if wrong:
        raise ValueError(wrong.decode())
    return memoryview(pixels).cast("B", (height, width, 3))
