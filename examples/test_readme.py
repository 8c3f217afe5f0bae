#!/usr/bin/env python3
"""test_readme.py ROOT - README.md shows what its sources hold. SPDX-License-Identifier: Apache-2.0

A block of code after <!-- excerpt: FILE --> stands in FILE as it is; a file that is linked or that
figures come from is there."""
import os
import re
import sys

root = sys.argv[1]


def read(name):
    with open(os.path.join(root, name), encoding="utf-8") as file:
        return file.read()


readme, errors = read("README.md"), []
excerpts = re.findall(r"<!-- excerpt: (\S+) -->\n```c\n(.*?)```", readme, re.DOTALL)
files = re.findall(r"\]\(([^)#:]+)\)", readme)
for names in re.findall(r"<!-- figures: (.*?) -->", readme):
    files += names.split(", ")
errors += [f"{name} does not hold:\n{text}" for name, text in excerpts if text not in read(name)]
errors += [f"{name} is missing" for name in files if not os.path.exists(os.path.join(root, name))]
if len(excerpts) != readme.count("<!-- excerpt") or not excerpts or not files:
    errors.append("an excerpt is not followed by a block of C, or there is none")
print("\n".join(errors) or f"README.md: {len(excerpts)} excerpts, {len(files)} files")
sys.exit(bool(errors))
