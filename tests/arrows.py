"""arrows.py ROOT - who includes whom: headers <- simt <- bench/common <- bench, tests, python and the
studies; the examples take headers and simt alone; nothing includes tests, python or studies;
studies include of the library only what is named here, which is all needed. Includes in the
strings of scripts count.
SPDX-License-Identifier: Apache-2.0"""
import os
import re
import sys

os.chdir(sys.argv[1])
BASE = {"headers", "simt", "bench/common"}
# A place: the places that its files may include, beside itself.
ALLOWED = {"headers": set(), "simt": set(), "examples": {"headers", "simt"},
           "bench/common": {"headers", "simt"}, "bench/kernels": {"headers", "simt"},
           "bench/drop_in": {"bench/common"}, "bench/sweep": BASE | {"bench/kernels"},
           "python": BASE, "tests": BASE,
           "simt/tests": {"simt", "bench/common"}, "studies/common": BASE}
STUDY = BASE | {"studies/common"}  # of a folder of studies; what measures others names them
MORE = {"studies/gaussians": {"studies/papers"}, "studies/hardware": {"studies/gaussians"}}


def place_of(path):
    if re.fullmatch(r"arc(/[^/]*\.cuh|\.cuh|_policy\.cuh|_tune\.h)", path):
        return "headers"
    found = re.match(r"(?:bench|studies)/[^/.]+(?=/)|simt/tests|"
                     r"(?:simt|examples|tests|python)(?=/)", path)
    return found and found[0]


def may_include(place):
    allowed = ALLOWED.get(place) or (STUDY if place.startswith("studies/") else set())
    return allowed | MORE.get(place, set()) | {place}


files = ["arc.cuh", "arc_policy.cuh", "arc_tune.h"] + [
    os.path.join(folder, name)
    for root in ("arc", "simt", "examples", "bench", "tests", "python", "studies")
    for folder, _, names in os.walk(root) for name in names
    if name.endswith((".cu", ".cuh", ".c", ".cpp", ".h", ".py", ".sh"))]
includes, wrong, used = 0, 0, set()
for file in files:
    with open(file, encoding="utf-8") as text:
        for name in re.findall(r'#[ \t]*include[ \t]*\\?"([^"\\{\n]*)', text.read()):
            path = os.path.normpath(os.path.join(os.path.dirname(file), name))
            path = path if os.path.exists(path) else name
            includes += 1
            wanted, place = place_of(path), place_of(file)
            used.add((place, wanted))
            if wanted and wanted not in may_include(place):
                wrong += 1
                print(f"{file} includes {path}: {place} may include {sorted(may_include(place))}")
for place, allowed in [*ALLOWED.items(), *MORE.items()]:
    for other in sorted(allowed) if os.path.isdir(place) else ():
        if (place, other) not in used:
            wrong += 1
            print(f"{place} may include {other}, and does not")
print(f"arrows: {includes} includes, {wrong} in the wrong direction or not needed")
if includes < 250:
    print("FAILED: this check has gone blind")
sys.exit(wrong > 0 or includes < 250)
