"""The checks of scripts/gpu-check.sh: each records a real program on the GPU and looks at the report."""
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).parents[2]
SAMPLES = ROOT / "samples/pytorch"
TOOL = sys.argv[1]
OUT = pathlib.Path(os.environ.get("OUT") or tempfile.mkdtemp(prefix="stallscope-gpu-"))
CHECKS = []


class NotApplicable(Exception):
    pass


def check(function):
    CHECKS.append(function)
    return function


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


def run(*command, timeout=120, expected=0, env=None):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=timeout,
                          env={**os.environ, **(env or {})})
    expect(expected is None or done.returncode == expected,
           f"exit code {done.returncode}: {(done.stderr or done.stdout).strip().splitlines()[-1:]}")
    return done


def record(name, *command, options=(), **keywords):
    """Records a program; its output and report.json."""
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    done = run(TOOL, "run", "-q", "-o", folder, *options, "--", *command, **keywords)
    return done, json.loads((folder / "report.json").read_text())


def python(program, *arguments):
    return [sys.executable, SAMPLES / program, *arguments]


def needs_torch():
    probe = subprocess.run([sys.executable, "-c", "import torch; print(torch.cuda.is_available())"],
                           capture_output=True, text=True)
    if probe.stdout.strip() != "True":
        raise NotApplicable("PyTorch with CUDA is not installed")


def marked_line(rule, program):
    for number, line in enumerate((SAMPLES / program).read_text().splitlines(), 1):
        if f"# expect: {rule}" in line:
            return number
    raise AssertionError(f"{program} marks no line for {rule}")


def findings(report, rule):
    return [f for f in report["findings"] if f["ruleId"] == rule and f["status"] == "measured"]


@check
def doctor_finds_cupti():
    text = run(TOOL, "doctor", "--format", "json", expected=None).stdout
    expect("cupti" in text.lower(), "doctor does not mention CUPTI")
    return json.dumps(json.loads(text))[:100]


@check
def kernels_are_recorded():
    needs_torch()
    _, report = record("kernels", *python("item-in-step/fixed.py"))
    ranks = [r for r in report["ranks"] if r.get("gpu", {}).get("kernels")]
    expect(ranks, "no rank has kernels")
    return f"{ranks[0]['gpu']['kernels']} kernels"


def pair_check(rule):
    def checks_pair():
        needs_torch()
        _, stalled = record(f"{rule}-stalled", *python(f"{rule}/stalled.py"))
        _, fixed = record(f"{rule}-fixed", *python(f"{rule}/fixed.py"))
        line = marked_line(rule, f"{rule}/stalled.py")
        found = findings(stalled, rule)
        expect(any(l["line"] == line for f in found for l in f["locations"]), f"not found at line {line}")
        expect(not findings(fixed, rule), "found in the fixed twin")
        return f"line {line}"
    checks_pair.__name__ = f"{rule} is found in the stalled program only"
    return check(checks_pair)


for sample in sorted(p.name for p in SAMPLES.iterdir() if (p / "stalled.py").exists()):
    pair_check(sample)


@check
def results_are_unchanged_by_recording():
    needs_torch()
    plain = run(*python("item-in-step/stalled.py")).stdout
    recorded, _ = record("unchanged", *python("item-in-step/stalled.py"))
    expect(recorded.stdout == plain, f"{recorded.stdout!r} instead of {plain!r}")
    return plain.strip()


@check
def overhead_is_small():
    needs_torch()

    def seconds(*command):
        begin = time.monotonic()
        run(*command)
        return time.monotonic() - begin

    plain, recorded = [], []
    for index in range(5):  # alternating, so that drift hits both
        plain.append(seconds(*python("item-in-step/fixed.py")))
        recorded.append(seconds(TOOL, "run", "-q", "--no-report", "--force", "-o", OUT / "overhead", "--",
                                *python("item-in-step/fixed.py")))
    difference = statistics.median(b - a for a, b in zip(plain, recorded)) / statistics.median(plain)
    return f"{difference:+.1%} of a whole run of {statistics.median(plain):.1f} s, start-up and analysis included"


@check
def torch_profiler_still_works():
    needs_torch()
    program = ("import torch, torch.profiler as p\n"
               "x = torch.randn(512, 512, device='cuda')\n"
               "with p.profile(activities=[p.ProfilerActivity.CPU, p.ProfilerActivity.CUDA]) as prof:\n"
               "    (x @ x).sum().item()\n"
               "print(any(e.device_time_total > 0 for e in prof.key_averages()))\n")
    done, _ = record("coexist", sys.executable, "-c", program)
    expect(done.stdout.strip().endswith("True"), "the program's own profile lost its GPU events")


@check
def the_programs_own_profile_fills_its_hole():
    needs_torch()
    program = OUT / "profiled.py"
    program.write_text("import torch, torch.profiler as p\n"
                       "x = torch.randn(512, 512, device='cuda')\n"
                       "for i in range(20): (x @ x).sum().item()\n"
                       "with p.profile(activities=[p.ProfilerActivity.CPU, p.ProfilerActivity.CUDA]) as prof:\n"
                       "    for i in range(5): (x @ x).sum().item()\n"
                       f"prof.export_chrome_trace({str(OUT / 'own.json')!r})\n")
    _, report = record("own-profile", sys.executable, program)
    expect(report["trust"]["holes"], "the window of the profiler is no hole")
    expect(any("fills the hole" in warning for warning in report["warnings"]), "its profile was not read")


GRAPH = """import torch
x = torch.randn(256, 256, device='cuda')
y = torch.empty_like(x)
def body():
    torch.mm(x, x, out=y)  # mark: first
    torch.mm(y, y, out=x)  # mark: second
    x.div_(x.norm())
body()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    body()
for _ in range(50):
    graph.replay()  # mark: replay
torch.cuda.synchronize()
"""


def graph_check(level):
    def checks_graph():
        needs_torch()
        program = OUT / "graph.py"
        program.write_text(GRAPH)
        line = {text.split("# mark: ")[1]: n for n, text in enumerate(GRAPH.splitlines(), 1) if "# mark: " in text}
        _, report = record(f"graph-{level}", sys.executable, program, options=("--gpu", level))
        rows = [row for rank in report["ranks"] for row in rank["graphs"] or ()]
        lines = {row["line"] for row in rows}
        expect({line["first"], line["second"]} <= lines, f"captured at lines {sorted(map(str, lines))}")
        expect(all((row["replayedAt"] or "").endswith(f":{line['replay']}") for row in rows), "replayed elsewhere")
        expect(any(row["replays"] == 50 for row in rows), f"replays {sorted({row['replays'] for row in rows})}")
        return f"{sum(row['nodes'] for row in rows):.0f} nodes at {len(lines)} lines"
    checks_graph.__name__ = f"nodes of CUDA graphs lead to the lines that captured them (--gpu {level})"
    return check(checks_graph)


for level in ("light", "full"):
    graph_check(level)


@check
def nccl_kernels_have_their_bytes():
    needs_torch()
    program = OUT / "nccl.py"
    program.write_text("import torch, torch.distributed as d\n"
                       "d.init_process_group('nccl', store=d.HashStore(), rank=0, world_size=1)\n"
                       "x = torch.ones(1 << 20, device='cuda')\n"
                       "for i in range(30):\n"
                       "    torch.cuda.nvtx.range_push('step')\n"
                       "    (x * 2).sum().item(); d.all_reduce(x); torch.cuda.synchronize()\n"
                       "    torch.cuda.nvtx.range_pop()\n")
    _, report = record("nccl", sys.executable, program)
    rows = [row for rank in report["ranks"] for row in rank["collectives"] or ()]
    if not rows:
        raise NotApplicable("one rank alone runs no NCCL kernel here")
    expect(any(row["bytes"] == 4 << 20 for row in rows), f"bytes {[row['bytes'] for row in rows]}")


@check
def a_forked_worker_does_not_hang():
    needs_torch()
    program = ("import torch, torch.utils.data as d\n"
               "x = torch.ones(8, device='cuda')\n"
               "class Rows(d.Dataset):\n"
               "    def __len__(self): return 64\n"
               "    def __getitem__(self, i): return torch.ones(4) * i\n"
               "for b in d.DataLoader(Rows(), 8, num_workers=2): x += b.to('cuda').sum()\n"
               "print(x[0].item())\n")
    record("fork", sys.executable, "-c", program, timeout=90)


@check
def a_killed_run_keeps_what_was_delivered():
    needs_torch()
    program = ("import os, signal, torch\n"
               "x = torch.ones(1024, 1024, device='cuda')\n"
               "for i in range(2000): x = (x @ x).clamp(0, 1)\n"
               "torch.cuda.synchronize(); os.kill(os.getpid(), signal.SIGKILL)\n")
    _, report = record("killed", sys.executable, "-c", program, expected=128 + signal.SIGKILL)
    kernels = sum(r.get("gpu", {}).get("kernels") or 0 for r in report["ranks"])
    expect(kernels > 0, "no kernel survived")
    return f"{kernels} kernels of about 4000"


def main():
    gpu = shutil.which("nvidia-smi") and subprocess.run(
        ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True)
    if not gpu or gpu.returncode != 0:
        print("no NVIDIA GPU here: nothing was checked")
        return 0
    print(f"device: {gpu.stdout.strip()}")
    failed = 0
    for function in CHECKS:
        name = function.__name__.replace("_", " ")
        try:
            verdict, detail = "pass", function() or ""
        except NotApplicable as reason:
            verdict, detail = "n/a", str(reason)
        except (AssertionError, subprocess.TimeoutExpired, OSError, ValueError, KeyError) as error:
            verdict, detail = "FAIL", str(error)[:160]
            failed += 1
        print(f"{verdict:5} {name:60} {detail}", flush=True)
    print(f"{len(CHECKS)} checks, {failed} failed; recordings in {OUT}")
    return 1 if failed else 0


sys.exit(main())
