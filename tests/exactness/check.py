"""The reference trainer against PyTorch: the same weights and batch, then loss, gradients and
AdamW steps compared.

    check.py TRAINER [--shapes N] [--seed S]     (run by scripts/exactness.sh)

Exit code 1 when a bound is broken, 77 when PyTorch is not installed.
"""
import argparse
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

try:
    import torch
except ImportError:
    print("check.py: PyTorch is not installed: scripts/exactness.sh sets it up", file=sys.stderr)
    sys.exit(77)

import torch_models

# Bounds: relative error of the loss; norm of a gradient's difference over its own norm, plus a part
# of the norm of all gradients; for parameters after the last step the error over their norm, plus a
# part of the way they went (Adam turns noise of small gradients into whole steps).
BOUNDS = {
    "fp32": {"loss": 1e-6, "own": 1e-5, "all": 1e-7, "track": 1e-4, "final": 1e-4, "way": 0.02},
    "bf16": {"loss": 1e-2, "own": 5e-2, "all": 2e-2, "track": 3e-2, "final": 2e-2, "way": 0.10}}
RATE = 1e-3
# Its true gradient is zero: a constant added to all scores of a query changes no softmax.
ZERO_GRADIENT = "attention.qkv.bias"


def read_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    types = {"F32": torch.float32, "I32": torch.int32}
    tensors = {}
    for name, it in json.loads(data[8:8 + size]).items():
        if name == "__metadata__":
            continue
        begin, end = it["data_offsets"]
        raw = bytearray(data[8 + size + begin:8 + size + end])
        tensors[name] = torch.frombuffer(raw, dtype=types[it["dtype"]]).reshape(it["shape"]).clone()
    return tensors


def part(tensors, prefix):
    return {name[len(prefix):]: it for name, it in tensors.items() if name.startswith(prefix)}


def run_trainer(trainer, shape, precision, steps, folder):
    path = pathlib.Path(folder) / "run.safetensors"
    args = [trainer, "--model", shape["model"], "--precision", precision, "--steps", str(steps),
            "--rate", str(RATE), "--record-run", str(path)]
    for name, flag in [("layers", "--layers"), ("hidden", "--hidden"), ("heads", "--heads"),
                       ("batch", "--batch"), ("sequence", "--seq"), ("vocabulary", "--vocabulary"),
                       ("features", "--features"), ("k", "--k"), ("head", "--head"),
                       ("activation", "--activation"), ("decoder", "--decoder"),
                       ("sparsity", "--sparsity"), ("dead_after", "--dead-after")]:
        if name in shape:
            args += [flag, str(shape[name])]
    subprocess.run(args, check=True, stdout=subprocess.DEVNULL, timeout=600)
    return read_safetensors(path)


def compare(trainer, shape, precision, steps):
    """The worst ratio of error to bound, by what was compared; above 1 breaks the bound."""
    with tempfile.TemporaryDirectory() as folder:
        run = run_trainer(trainer, shape, precision, steps, folder)
    inputs = {n: it.long() if it.dtype == torch.int32 else it
              for n, it in part(run, "input.").items()}
    parameters = {n: it.requires_grad_() for n, it in part(run, "initial.").items()}
    optimizer = torch_models.optimizer(parameters, RATE)
    bound, worst = BOUNDS[precision], {"loss": 0.0, "gradient": 0.0, "track": 0.0, "final": 0.0}
    initial = {n: it.detach().clone() for n, it in parameters.items()}
    for step in range(steps):
        optimizer.zero_grad()
        loss = torch_models.LOSSES[shape["model"]](parameters, inputs, shape)
        loss.backward()
        error = abs(float(run["losses"][step]) - loss.item()) / abs(loss.item())
        if step == 0:
            worst["loss"] = error / bound["loss"]
            total = torch.sqrt(sum((it.grad ** 2).sum() for it in parameters.values())).item()
            for name, it in parameters.items():
                difference = (run["gradient." + name] - it.grad).norm().item()
                allowed = bound["own"] * it.grad.norm().item() + bound["all"] * total
                worst["gradient"] = max(worst["gradient"], difference / max(allowed, 1e-30))
        worst["track"] = max(worst["track"], error / bound["track"])
        optimizer.step()
    zero = []
    for name, it in parameters.items():
        want, got = it.detach(), run["final." + name]
        if name.endswith(ZERO_GRADIENT):  # query and value parts have one, the key part has none
            zero.append(name + " (key part)")
            keep = [0, 2]
            want, got, start = want[keep], got[keep], initial[name][keep]
        else:
            start = initial[name]
        moved = (want - start).norm().item()
        allowed = bound["final"] * want.norm().item() + bound["way"] * moved
        worst["final"] = max(worst["final"], (got - want).norm().item() / max(allowed, 1e-30))
    return worst, zero


def random_shape(rng):
    model = rng.choice(["bert", "gpt", "gpt", "bert", "clt"])
    shape = {"model": model, "layers": rng.randint(1, 3), "batch": rng.choice([1, 1, 2, 3, 5]),
             "sequence": rng.randint(2, 70)}
    if model == "clt":
        shape.update(hidden=rng.randint(3, 40), features=rng.randint(8, 200), k=rng.randint(1, 7),
                     activation=rng.choice(["batch-topk", "token-topk", "jumprelu"]),
                     sparsity=0.01)
        return shape
    heads = rng.choice([1, 2, 3, 5, 7])
    shape.update(heads=heads, hidden=heads * rng.choice([4, 7, 8, 13, 16, 33, 64]),
                 vocabulary=rng.choice([11, 97, 128, 333, 1001]))
    if model == "bert":
        shape["head"] = rng.choice(["all", "masked"])
    return shape


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trainer")
    parser.add_argument("--shapes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    fixed = [({"model": m, "layers": 4, "hidden": 256, "heads": 4, "batch": 4, "sequence": 64,
               "vocabulary": 1000}, p) for m in ("bert", "gpt") for p in ("fp32", "bf16")]
    transcoder = {"model": "clt", "layers": 3, "hidden": 64, "features": 512, "k": 16, "batch": 4,
                  "sequence": 32}
    fixed.append(({**transcoder, "decoder": "dense"}, "fp32"))
    fixed += [({**transcoder, "activation": it, "sparsity": 0.01, "dead_after": 3}, "fp32")
              for it in ("batch-topk", "token-topk", "jumprelu")]
    rng, broken = random.Random(options.seed), 0
    print(f"PyTorch {torch.__version__}; error over its bound, above 1 is broken; 20 AdamW steps")
    print(f"{'':44} {'loss':>7} {'gradient':>9} {'track':>7} {'final':>7}")
    zero = set()
    for shape, precision in fixed:
        worst, names = compare(options.trainer, shape, precision, 20)
        zero.update(names)
        form = shape.get("decoder", shape.get("activation", ""))
        text = f"{shape['model']} {shape['layers']}L-{shape['hidden']}H {precision} {form}"
        print(f"{text:44} " + " ".join(f"{worst[k]:8.3f}" for k in worst))
        broken += any(it > 1 for it in worst.values())
    most = {"loss": 0.0, "gradient": 0.0}
    for _ in range(options.shapes):
        shape = random_shape(rng)
        worst, _ = compare(options.trainer, shape, "fp32", 1)
        for key in most:
            most[key] = max(most[key], worst[key])
        if worst["loss"] > 1 or worst["gradient"] > 1:
            broken += 1
            print(f"broken: {shape} {worst}")
    print(f"{options.shapes} random shapes, fp32: worst loss {most['loss']:.3f}, "
          f"worst gradient {most['gradient']:.3f}")
    print("true gradient zero, not compared after the steps:", ", ".join(sorted(zero)))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
