"""measure.py - what measurements in PyTorch share: times on the GPU, what they were measured on.
SPDX-License-Identifier: Apache-2.0"""
import contextlib
import datetime
import hashlib
import pathlib
import subprocess
import sys
import time

import arc_torch
import torch


def times(functions, launches, warm_up, prepare=lambda: None):
    """[[ms, ...]], sorted, of functions that take turns; `prepare` is called before each launch."""
    results = [[] for _ in functions]
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for launch in range(-warm_up, launches):
        for function, its in zip(functions, results):
            prepare()
            torch.cuda._sleep(400_000)  # 0.2 ms: PyTorch's own launches are queued by then
            begin.record()
            function()
            end.record()
            end.synchronize()
            if launch >= 0:
                its.append(begin.elapsed_time(end))
    return [sorted(its) for its in results]


def medians(functions, launches, warm_up=1):
    """In ms."""
    return [its[len(its) // 2] for its in times(functions, launches, warm_up)]


def back_to_back_ms(function, calls=2000):
    """Of each of so many calls in a row, until the GPU has done them all."""
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(calls):
        function()
    torch.cuda.synchronize()
    return 1000 * (time.perf_counter() - begin) / calls


def copied_bytes_per_ms():
    large = torch.zeros(2**30, dtype=torch.int8, device="cuda")
    return 2 * large.nbytes / medians([large.clone], 15)[0]


def peak_mb(function):
    """What it has allocated at most at once, results among it."""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    function()
    return (torch.cuda.max_memory_allocated() - before) / 1e6


def headers_hash():
    """As CMakeLists.txt forms it."""
    folder = pathlib.Path(arc_torch.include_path())
    files = [*folder.glob("arc/*.cuh"), folder / "arc.cuh", folder / "arc_policy.cuh"]
    hashes = (hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(files, key=str))
    return hashlib.sha256("".join(hashes).encode()).hexdigest()[:12]


def head():
    """Lines for a CSV's head."""
    device = torch.cuda.get_device_properties(0)
    query = ["nvidia-smi", "--query-gpu=driver_version,clocks.max.sm", "--format=csv,noheader"]
    driver, clock = subprocess.run(query, stdout=subprocess.PIPE, text=True).stdout.split("\n")[0] \
        .split(", ")
    yield f"program: {pathlib.Path(sys.argv[0]).name}"
    yield f"date: {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%dT%H:%M:%SZ}"
    yield f"command: {' '.join(pathlib.Path(word).name for word in sys.argv)}"
    yield (f"device: {device.name}, sm_{device.major}{device.minor}, "
           f"{device.multi_processor_count} multiprocessors, L2 {device.L2_cache_size >> 20} MiB")
    yield f"clocks: up to {clock}"
    yield f"cuda: driver {driver}, runtime {torch.version.cuda}"
    yield f"compiler: nvcc of CUDA {torch.version.cuda}, PyTorch {torch.__version__}"
    yield f"policy: arc {arc_torch.__version__} path=auto threshold=auto key_bits=32"
    yield f"headers: {headers_hash()}"


@contextlib.contextmanager
def table(name, columns):
    """A function that writes a row; to the CSV of that name, below its head, or nowhere."""
    with open(name or "/dev/null", "w", encoding="utf-8") as file:
        for line in head():
            print(f"# {line}", file=file)
        print(*columns, sep=",", file=file)
        yield lambda *cells: print(*cells, sep=",", file=file, flush=True)
