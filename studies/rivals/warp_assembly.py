"""warp_assembly.py - the assembly of a solver in NVIDIA Warp: by its atomics, by its deterministic
modes, and by arc in a native function. SPDX-License-Identifier: Apache-2.0

    python3 studies/rivals/warp_assembly.py --csv warp_assembly.csv

A contact adds 3, 6 or 36 floats, a force, a wrench or a block of a matrix, to one body's row and
subtracts them from another's. Contacts are listed by their first body; of the second bodies, one in
eight is one of four. All sums are checked, and whether ten runs agree. Without a GPU the kernels
are only compiled. --csv needs PyTorch, too."""
import argparse
import pathlib
import statistics
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(REPOSITORY / "examples/python"), str(REPOSITORY / "studies/operator")]
import need

np = need.module("numpy")
wp = need.module("warp")
if not hasattr(wp, "DeterministicMode"):
    need.skip("Warp is older than 1.19: it has no deterministic modes")
CACHE = tempfile.TemporaryDirectory()  # Warp's own knows nothing of headers that have changed
wp.config.kernel_cache_dir = CACHE.name

WIDTHS, BODIES, CONTACTS, HOT = (3, 6, 36), 100_000, 1 << 20, 4
RUNS = 10  # whose bits are compared
LAUNCHES = 11
AT_ONCE = {"run to run": 1, "GPU to GPU": 1}  # the quick ones: 5, so that no GPU waits for a CPU
SCALE_LOG2 = 22  # of fixed point: values below 2^15, 2^21 of them
MODES = {"warp": "NOT_GUARANTEED", "run to run": "RUN_TO_RUN", "GPU to GPU": "GPU_TO_GPU"}
# Of arc's suffixes: the type of a sum, how many a row has, how one is read and cleared.
ARC = {"f32": (float, "{width}", None),
       "fixed": (wp.int64, "{width}", f"arc_fixed_to_f32(row[i], {SCALE_LOG2}); row[i] = 0"),
       "wide": (wp.int64, "ARC_WIDE_ROW({width})", "arc_wide_take_f32(row, {width}, i)")}
WAYS = [*MODES, *ARC]


def kernel(function, mode="NOT_GUARANTEED"):
    return wp.kernel(function, module="unique", enable_backward=False, module_options={
        "deterministic": wp.DeterministicMode[mode], "extra_build_options": wp.ModuleBuildOptions(
            extra_cuda_include_dirs=[str(REPOSITORY)],
            extra_cuda_preamble='#define ARC_WIDE 1\n#include "arc.cuh"')})


def native(name, code, function):
    """A native function with a name of its own, by which Warp tells them apart."""
    function.__qualname__ = function.__name__ = name
    return wp.func_native(code)(function)


def factors(width):
    """The values of a contact of weight 1."""
    return [1.0 + 0.125 * i for i in range(width)]


def kernels(way, width):
    """One that adds; one that reads and clears, or None."""
    vector = wp.types.vector(length=width, dtype=float)
    units = wp.constant(vector(*factors(width)))
    if way in MODES:
        def add(rows: wp.array(dtype=vector), bodies: wp.array2d(dtype=int),
                weights: wp.array(dtype=float)):
            contact = wp.tid()
            value = weights[contact] * units
            wp.atomic_add(rows, bodies[0, contact], value)
            wp.atomic_add(rows, bodies[1, contact], -value)
        return kernel(add, MODES[way]), None

    number, stride, reading = ARC[way]
    stride = stride.format(width=width)
    base = "rows.data" if number is float else "(long long *)rows.data"
    scale = f", {SCALE_LOG2}" if way == "fixed" else ""

    def add_row(rows: wp.array(dtype=number), body: int, value: vector): ...
    add_row = native(f"add_{way}_{width}", f"""
float values[{width}];
for (int i = 0; i < {width}; ++i) values[i] = value[i];
arc_target_{way} target = arc_target_{way}_rows({base}, {stride}, {width}{scale});
arc_add_{way}(target, body, values, true); /* launches are of whole warps */
""", add_row)

    def add(rows: wp.array(dtype=number), bodies: wp.array2d(dtype=int),
            weights: wp.array(dtype=float)):
        contact = wp.tid()
        value = weights[contact] * units
        add_row(rows, bodies[0, contact], value)
        add_row(rows, bodies[1, contact], -value)

    def read_sum(rows: wp.array(dtype=number), sums: wp.array(dtype=float), k: int): ...
    if reading is None:
        return kernel(add), None
    read_sum = native(f"read_{way}_{width}", f"""
const int i = k % {width};
long long *row = {base} + (long long)(k / {width}) * ({stride});
sums[k] = {reading.format(width=width)};
""", read_sum)

    def read(rows: wp.array(dtype=number), sums: wp.array(dtype=float)):
        read_sum(rows, sums, wp.tid())
    return kernel(add), kernel(read)


class Assembly:
    """Rows on the GPU. Those that are read are clear before and after."""

    def __init__(self, way, width, bodies, weights):
        self.adder, self.reader = kernels(way, width)
        self.bodies, self.weights = bodies, weights
        if way in MODES:
            self.rows = wp.zeros(BODIES, dtype=wp.types.vector(length=width, dtype=float))
        else:
            words = 6 * width + (width + 3) // 4 if way == "wide" else width  # ARC_WIDE_ROW
            self.rows = wp.zeros(BODIES * words, dtype=ARC[way][0])
        self.sums = wp.zeros(BODIES * width, dtype=float) if self.reader else self.rows

    def add(self):
        wp.launch(self.adder, dim=CONTACTS, inputs=[self.rows, self.bodies, self.weights])

    def whole(self):
        if not self.reader:
            self.rows.zero_()
        self.add()
        if self.reader:
            wp.launch(self.reader, dim=self.sums.size, inputs=[self.rows, self.sums])

    def run(self):
        self.whole()
        return self.sums.numpy().copy()


def elapsed_ms(function, repeats):
    begin, end = wp.record_event(wp.Event(enable_timing=True)), wp.Event(enable_timing=True)
    for _ in range(repeats):
        function()
    wp.record_event(end)
    return wp.get_event_elapsed_time(begin, end) / repeats  # waits for the end


def median_and_spread(times):
    low, median, high = statistics.quantiles(times, n=4)
    return median, (high - low) / median


def check(way, width, runs, wanted, sizes):
    """Whether all runs have the same bits. Ends the program if they must, or if sums are wrong."""
    wrong = np.count_nonzero(~(np.abs(runs[0].reshape(wanted.shape) - wanted) <= 1e-4 * sizes))
    same = all(run.tobytes() == runs[0].tobytes() for run in runs)
    if wrong or not (same or way in ("warp", "f32")):
        sys.exit(f"warp_assembly: {way}, {width} floats: {wrong} sums wrong, same bits: {same}")
    return same


def measure_width(width, bodies, weights):
    """Lines of the table. The ways take turns."""
    on_gpu = wp.array(bodies, dtype=int), wp.array(weights, dtype=float)
    all_ways = {way: Assembly(way, width, *on_gpu) for way in WAYS}
    values = weights[:, None].astype(float) * factors(width)
    wanted, sizes = np.zeros((2, BODIES, width))
    for sign, its in zip((1.0, -1.0), bodies):
        np.add.at(wanted, its, sign * values)
        np.add.at(sizes, its, np.abs(values))
    same = {way: check(way, width, [its.run() for _ in range(RUNS)], wanted, sizes)
            for way, its in all_ways.items()}
    adding, whole = ({way: [] for way in WAYS} for _ in range(2))
    for _ in range(LAUNCHES):
        for way, its in all_ways.items():
            whole[way].append(elapsed_ms(its.whole, AT_ONCE.get(way, 5)))
            adding[way].append(elapsed_ms(its.add, AT_ONCE.get(way, 5)))
            its.whole()  # leaves clear rows
    base = median_and_spread(adding["warp"])[0]
    for way in WAYS:
        (add_ms, spread), (whole_ms, _) = map(median_and_spread, (adding[way], whole[way]))
        print(f"{width:2} floats, {way:10}: {add_ms:8.4f} ms ({add_ms / base:.2f}), cleared and "
              f"read, too, {whole_ms:8.4f} ms, same bits: {same[way]}")
        yield f"{width},{way},{add_ms:.4f},{whole_ms:.4f},{spread:.3f},{int(same[way])}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(" - ")[1].split("\n\n")[0])
    parser.add_argument("--csv")
    given = parser.parse_args()
    if not wp.is_cuda_available():
        for its in [its for width in WIDTHS for way in WAYS for its in kernels(way, width) if its]:
            wp.compile_aot_module(its.module, arch=90, module_dir=CACHE.name)
        need.skip("Warp sees no CUDA device; it has compiled all kernels for sm_90")
    random = np.random.default_rng(1)
    firsts = np.arange(CONTACTS) * BODIES // CONTACTS
    hot = random.random(CONTACTS) < 0.125
    bodies = np.stack([firsts, random.integers(0, np.where(hot, HOT, BODIES))]).astype(np.int32)
    weights = np.exp(2.0 * random.standard_normal(CONTACTS)).clip(max=5000).astype(np.float32)
    lines = [line for width in WIDTHS for line in measure_width(width, bodies, weights)]
    if given.csv:
        import measure
        head = [*measure.head(REPOSITORY, "scope=device"), f"warp: {wp.__version__}, its NVRTC"]
        head = [*(f"# {line}" for line in head), "width,way,add_ms,whole_ms,spread,same_bits"]
        pathlib.Path(given.csv).write_text("\n".join([*head, *lines]) + "\n")


if __name__ == "__main__":
    main()
