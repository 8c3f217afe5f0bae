"""backend.py - builds the packages of arc_headers for pip (PEP 517, 660) with the standard library
alone, the same bytes each time. SPDX-License-Identifier: Apache-2.0"""
import base64
import gzip
import hashlib
import io
import pathlib
import re
import runpy
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HEADERS = ["arc.cuh", "arc_policy.cuh", "arc_tune.h", "simt/simt.cuh", "simt/simt.cpp",
           *sorted(f"{folder}/{path.name}" for folder, names in (("arc", "*.cuh"), ("simt", "*.h"))
                   for path in (ROOT / folder).glob(names))]
SINGLE = "tests/single.py"  # writes all of them in one
WHEEL = """Wheel-Version: 1.0
Generator: arc
Root-Is-Purelib: true
Tag: py3-none-any
"""


def version():
    policy = (ROOT / "arc_policy.cuh").read_text(encoding="utf-8")
    return ".".join(re.search(rf"#define ARC_VERSION_{part} (\d+)", policy)[1]
                    for part in ("MAJOR", "MINOR", "PATCH"))


def metadata():
    return f"""Metadata-Version: 2.1
Name: arc_headers
Version: {version()}
Summary: Header-only CUDA C library: warp-level reductions before atomic additions
License: Apache-2.0
Requires-Python: >=3.8
"""


def modules():
    return sorted((HERE / "arc_headers").glob("*.py"))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = {f"arc_headers/include/{header}": (ROOT / header).read_bytes() for header in HEADERS}
    in_one = runpy.run_path(str(ROOT / SINGLE))["single"](ROOT)
    files["arc_headers/include/arc_single.cuh"] = in_one.encode()
    files.update((f"arc_headers/{module.name}", module.read_bytes()) for module in modules())
    return write_wheel(wheel_directory, files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """pip install -e: the include path is this folder."""
    files = {f"arc_headers/{module.name}": module.read_bytes() for module in modules()}
    files["arc_headers/__init__.py"] = f"def include_path():\n    return {str(ROOT)!r}\n".encode()
    return write_wheel(wheel_directory, files)


def build_sdist(sdist_directory, config_settings=None):
    name = f"arc_headers-{version()}"
    paths = [*(ROOT / header for header in HEADERS), *modules(), HERE / "backend.py",
             ROOT / SINGLE, ROOT / "pyproject.toml", ROOT / "LICENSE"]
    files = {str(path.relative_to(ROOT)): path.read_bytes() for path in paths}
    files["PKG-INFO"] = metadata().encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path, data in files.items():
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    sdist = pathlib.Path(sdist_directory, f"{name}.tar.gz")
    sdist.write_bytes(gzip.compress(packed.getvalue(), mtime=0))
    return sdist.name


def write_wheel(wheel_directory, files):
    name = f"arc_headers-{version()}"
    files[f"{name}.dist-info/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    files[f"{name}.dist-info/METADATA"] = metadata().encode()
    files[f"{name}.dist-info/WHEEL"] = WHEEL.encode()
    record = ""
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    files[f"{name}.dist-info/RECORD"] = (record + f"{name}.dist-info/RECORD,,\n").encode()
    wheel = f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory, wheel), "w") as archive:
        for path, data in files.items():
            archive.writestr(zipfile.ZipInfo(path), data)  # without a date
    return wheel
