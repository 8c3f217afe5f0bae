"""need.py - what a program cannot do without: where it is missing, one line says so, and the program
ends with status 77, which CTest reports as skipped. SPDX-License-Identifier: Apache-2.0"""
import importlib
import sys


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def module(name):
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:  # another ImportError is of a package that is broken
        skip(missing)


def cupy_with_device():
    cupy = module("cupy")
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        if error.status not in (35, 100):  # no driver, no device
            raise
        skip(error)
    return cupy
