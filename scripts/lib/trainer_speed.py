"""Step times of the reference trainer beside PyTorch's, as ratios of one run.

    trainer_speed.py TRAINER [NAME...]            the table; only the shapes named
    trainer_speed.py --torch SHAPE PRECISION MODE one side, as JSON (used by the table)

PyTorch runs with jemalloc tuned for it where that library is installed (apt: libjemalloc2), without
dropout, with fused AdamW; both sides project the same tokens on the vocabulary.
"""
import glob
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/exactness"))

BASE = {"model": "bert", "layers": 4, "hidden": 768, "heads": 12, "batch": 8, "sequence": 128,
        "vocabulary": 30528, "head": "all"}
SHAPES = {
    "bert-4L": {},
    "bert-4L-masked": {"head": "masked"},
    "bert-4L-b1": {"batch": 1},
    "bert-4L-s512": {"batch": 2, "sequence": 512},
    "bert-12L-masked": {"layers": 12, "head": "masked"},
    "gpt-4L": {"model": "gpt", "vocabulary": 50304},
    # 1024 tokens; PyTorch multiplies dense decoders, which takes many seconds a step.
    "clt-small": {"model": "clt", "layers": 6, "hidden": 512, "features": 16384, "k": 200,
                  "warm": 1, "steps": 1},
    "clt-large": {"model": "clt", "layers": 12, "hidden": 768, "features": 8192, "k": 200,
                  "warm": 1, "steps": 1},
}
ROUNDS = int(os.environ.get("STALLSCOPE_BENCH_ROUNDS", "5"))
WARM, STEPS = 2, 3
# After the first round, which measures every shape: when nothing further is begun.
SECONDS = float(os.environ.get("STALLSCOPE_BENCH_SECONDS", "300"))
ALLOCATOR = "thp:always,metadata_thp:auto,dirty_decay_ms:-1,muzzy_decay_ms:-1"


def shape_of(name):
    return {**BASE, **SHAPES[name]}


def transcoder_sizes(shape):
    layers, h, f = (shape[k] for k in ("layers", "hidden", "features"))
    sizes = {}
    for layer in range(layers):
        sizes.update({f"encoder.{layer}.weight": (h, f), f"encoder.{layer}.bias": (f,),
                      f"decoder.{layer}": (f, layers - layer, h), f"decoder.bias.{layer}": (h,)})
    return sizes


def transformer_sizes(shape):
    h, v, s, heads = (shape[k] for k in ("hidden", "vocabulary", "sequence", "heads"))
    sizes = {"embedding.token": (v, h), "embedding.position": (s, h)}
    for layer in range(shape["layers"]):
        name = f"layer.{layer}"
        sizes.update({
            name + ".attention.qkv.weight": (h, 3, heads, h // heads),
            name + ".attention.qkv.bias": (3, heads, h // heads),
            name + ".attention.out.weight": (heads, h // heads, h),
            name + ".attention.out.bias": (h,), name + ".mlp.up.weight": (h, 4 * h),
            name + ".mlp.up.bias": (4 * h,), name + ".mlp.down.weight": (4 * h, h),
            name + ".mlp.down.bias": (h,)})
        for norm in ("norm1", "norm2"):
            sizes.update({f"{name}.{norm}.gain": (h,), f"{name}.{norm}.bias": (h,)})
    norms = ["final.norm"]
    if shape["model"] == "bert":
        norms = ["embedding.norm", "head.norm"]
        sizes.update({"embedding.segment": (h,), "head.weight": (h, h), "head.bias": (h,),
                      "head.out.bias": (v,)})
    for norm in norms:
        sizes.update({norm + ".gain": (h,), norm + ".bias": (h,)})
    return sizes


def parameters(shape):
    import torch
    sizes = transcoder_sizes(shape) if shape["model"] == "clt" else transformer_sizes(shape)
    return {n: (0.02 * torch.randn(size)).requires_grad_() for n, size in sizes.items()}


def inputs_of(shape):
    import torch
    tokens = shape["batch"] * shape["sequence"]
    if shape["model"] == "clt":
        return {name: torch.rand(shape["layers"] * tokens, shape["hidden"])
                for name in ("inputs", "targets")}
    masked = max(int(0.15 * tokens), 1)
    inputs = {"tokens": torch.randint(0, shape["vocabulary"], (tokens,))}
    if shape["model"] == "gpt":
        inputs["labels"] = torch.randint(0, shape["vocabulary"], (tokens,))
    elif shape["head"] == "masked":
        inputs["masked"] = torch.arange(masked) * tokens // masked
        inputs["labels"] = torch.randint(0, shape["vocabulary"], (masked,))
    else:
        inputs["labels"] = torch.full((tokens,), -1)
        inputs["labels"][torch.arange(masked) * tokens // masked] = 1
    return inputs


def torch_side(shape, precision, mode):
    import torch
    import torch_models
    torch.set_flush_denormal(True)
    p, inputs = parameters(shape), inputs_of(shape)
    loss = torch_models.LOSSES[shape["model"]]
    if mode == "compiled":
        loss = torch.compile(loss)
    optimizer = torch_models.optimizer(p, 1e-4, fused=True)
    times = []
    warm = shape.get("warm", WARM)
    for _ in range(warm + shape.get("steps", STEPS)):
        start = time.perf_counter()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bf16"):
            value = loss(p, inputs, shape)
        value.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        times.append(time.perf_counter() - start)
    print(json.dumps({"steps": times[warm:], "threads": torch.get_num_threads(),
                      "version": torch.__version__}))


def run_torch(name, precision, mode, jemalloc):
    env = dict(os.environ)
    if jemalloc:
        env.update(LD_PRELOAD=jemalloc, MALLOC_CONF=ALLOCATOR)
    done = subprocess.run([sys.executable, __file__, "--torch", name, precision, mode], env=env,
                          capture_output=True, text=True)
    if done.returncode != 0:
        return None, (done.stderr.strip().splitlines() or ["failed"])[-1]
    result = json.loads(done.stdout.splitlines()[-1])
    return min(result["steps"]), f"PyTorch {result['version']}, {result['threads']} threads"


def run_own(trainer, name, precision, ranks=1):
    shape = shape_of(name)
    with tempfile.TemporaryDirectory() as folder:
        facts = pathlib.Path(folder) / "facts.json"
        flags = {"--seq": "sequence", **{f"--{k}": k for k in ("model", "layers", "hidden", "heads",
                                                               "batch", "vocabulary", "head",
                                                               "features", "k") if k in shape}}
        args = [word for flag, key in flags.items() for word in (flag, str(shape[key]))]
        if ranks > 1:
            args += ["--tp", str(ranks), "--sequence-parallel"]
        subprocess.run([trainer, *args, "--precision", precision, "--steps",
                        str(1 + WARM + STEPS), "--facts", str(facts)], check=True,
                       stdout=subprocess.DEVNULL)
        known = json.loads(facts.read_text())
    step = min(known["stepNs"][WARM:]) / 1e9
    floor = sum(it["bestNs"] for it in known["productRates"]) / 1e9
    return step, floor / step, known["products"]


def interval(values):
    return f"{statistics.median(values):5.2f} ({min(values):.2f} to {max(values):.2f})"


class Row:
    """What was measured of one shape in one precision."""

    def __init__(self, name, precision):
        self.name, self.precision = name, precision
        self.own, self.share, self.two, self.notes = [], [], [], []
        self.ratios = {"eager": [], "compiled": []}

    def measure(self, trainer, jemalloc):
        step, products, _ = run_own(trainer, self.name, self.precision)
        self.own.append(step)
        self.share.append(products)
        if (os.cpu_count() or 1) > 1 and shape_of(self.name)["model"] != "clt":
            self.two.append(step / run_own(trainer, self.name, self.precision, 2)[0])
        for mode, ratios in self.ratios.items():
            if mode == "compiled" and self.compiled_is_slower():
                continue  # by far: the fastest is known, compiling takes most of the time
            other, note = run_torch(self.name, self.precision, mode, jemalloc)
            if other is None:
                self.notes.append(f"{mode}: {note}")
            else:
                ratios.append(other / step)

    def compiled_is_slower(self):
        eager, compiled = (self.ratios[it] for it in ("eager", "compiled"))
        return bool(eager and compiled) and min(compiled) > 1.15 * max(eager)

    def fastest(self):
        known = [it for it in self.ratios.values() if it]
        return min(known, key=statistics.median) if known else []

    def text(self):
        return (f"{self.name:16} {self.precision:5} {len(self.own):6} "
                f"{statistics.median(self.own):8.3f}s {100 * statistics.median(self.share):7.0f} %  "
                + "; ".join(interval(it) if it else "none"
                            for it in [self.fastest(), *self.ratios.values()])
                + (f"; two ranks {interval(self.two)}" if self.two else "")
                + "".join("\n  " + note for note in self.notes))


def table(trainer, names):
    found = sorted(glob.glob("/usr/lib/*/libjemalloc.so.2"))
    jemalloc = os.environ.get("STALLSCOPE_JEMALLOC", found[0] if found else "")
    print(f"PyTorch's allocator: {'jemalloc, ' + ALLOCATOR if jemalloc else 'the system one'}; "
          f"up to {ROUNDS} rounds, all but the first within {SECONDS:.0f} s")
    rows = [Row(name, precision) for name in names for precision in ("fp32", "bf16")]
    end = time.monotonic() + SECONDS
    for turn in range(ROUNDS):
        for row in rows:
            if turn == 0 or time.monotonic() < end:
                print(f"  round {turn + 1}: {row.name} {row.precision}", file=sys.stderr)
                row.measure(trainer, jemalloc)
    print(f"{'shape':16} {'':5} {'rounds':>6} {'own step':>9} {'products':>9}  times as fast as the "
          "fastest of eager and compiled; as eager; as compiled")
    rows.sort(key=lambda row: statistics.median(row.fastest() or [float("inf")]))
    for row in rows:  # the worst first
        print(row.text())
    print("products: this step's matrix products alone, measured in the same run, over the step; "
          "two ranks: the step of one rank on all cores over that of two sequence-parallel ranks that "
          "share them")


if __name__ == "__main__":
    if sys.argv[1] == "--torch":
        torch_side(shape_of(sys.argv[2]), *sys.argv[3:5])
    else:
        table(sys.argv[1], sys.argv[2:] or list(SHAPES))
