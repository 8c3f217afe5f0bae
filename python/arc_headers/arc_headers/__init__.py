"""arc's headers. SPDX-License-Identifier: Apache-2.0"""
import os


def include_path():
    """The folder of arc.cuh, for -I."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "include")
