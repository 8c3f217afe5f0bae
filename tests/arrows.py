"""arrows.py ROOT - who includes whom: bench and tests the examples, the examples simt, all of them
the headers, and never the other way round; within bench the sweep its kernels, and whoever measures
what is common. SPDX-License-Identifier: Apache-2.0"""
import os
import re
import sys

os.chdir(sys.argv[1])
# A place: the places that its files may include.
ALLOWED = {"headers": {"headers"}, "simt": {"simt", "headers"},
           "examples": {"examples", "simt", "headers"},
           "tests": {"tests", "examples", "simt", "headers"},
           "bench/kernels": {"bench/kernels", "simt", "headers"},
           "bench/adopters": {"bench/adopters", "simt", "headers"},
           "bench/torch": {"headers"}}
for place, others in (("common", "common"), ("sweep", "sweep kernels common"),
                      ("paper", "paper common"), ("gaussians", "gaussians paper common"),
                      ("hardware", "hardware gaussians"), ("rivals", "")):
    ALLOWED[f"bench/{place}"] = {"examples", "simt", "headers"} | {
        f"bench/{other}" for other in others.split()}


def place_of(path):
    if re.fullmatch(r"arc(/[^/]*\.cuh|\.cuh|_policy\.cuh|_tune\.h)", path):
        return "headers"
    found = re.match("(simt|examples|bench/[^/]+|tests)/", path)
    return found and found[1]


files = ["arc.cuh", "arc_policy.cuh", "arc_tune.h"] + [
    os.path.join(folder, name) for root in ("arc", "simt", "examples", "bench", "tests")
    for folder, _, names in os.walk(root) for name in names
    if name.endswith((".cu", ".cuh", ".c", ".cpp", ".h"))]
includes, wrong = 0, 0
for file in files:
    with open(file, encoding="utf-8") as text:
        for name in re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"]*)"', text.read(), re.MULTILINE):
            path = os.path.normpath(os.path.join(os.path.dirname(file), name))
            path = path if os.path.exists(path) else name
            includes += 1
            wanted, allowed = place_of(path), ALLOWED.get(place_of(file), ())
            if wanted and wanted not in allowed:
                wrong += 1
                print(f"{file} includes {path}: may include {sorted(allowed)}")
print(f"arrows: {includes} includes, {wrong} in the wrong direction")
if includes < 500:
    print("FAILED: this check has gone blind")
sys.exit(wrong > 0 or includes < 500)
