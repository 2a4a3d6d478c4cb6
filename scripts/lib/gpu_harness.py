"""What the checks of scripts/gpu-check.sh share: the table, the time they may take, and how a program is recorded."""
import functools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).parents[2]
SAMPLES = ROOT / "samples/pytorch"
TOOL = pathlib.Path(sys.argv[1])
OUT = pathlib.Path(os.environ.get("OUT") or tempfile.mkdtemp(prefix="stallscope-gpu-"))
OUT.mkdir(parents=True, exist_ok=True)
LIMIT_S = float(os.environ.get("LIMIT_S", 510))  # of all together: under nine minutes, the table included
_BEGIN = time.monotonic()
CHECKS = []


class NotApplicable(Exception):
    pass


def left():
    """Seconds that are left for the checks still to come."""
    return LIMIT_S - (time.monotonic() - _BEGIN)


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


@functools.cache
def gpus():
    """Name and driver of each GPU; empty without one."""
    if not shutil.which("nvidia-smi"):
        return []
    done = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                          capture_output=True, text=True, timeout=30)
    return done.stdout.strip().splitlines() if done.returncode == 0 else []


def check(name, anywhere=False, torch=True, seconds=12):
    """A row of the table. `seconds`: it is not begun with less time left. Unless `anywhere`, it takes a GPU."""
    def row(function):
        @functools.wraps(function)
        def guarded():
            if not anywhere and not gpus():
                raise NotApplicable("no NVIDIA GPU here")
            if torch and not anywhere:
                needs_torch()
            if left() < seconds:
                raise NotApplicable("no time left of the nine minutes")
            return function()
        guarded.row = name
        CHECKS.append(guarded)
        return guarded
    return row


def run(*command, timeout=90, expected=0, env=None, cwd=None):
    """Runs a command with all that it starts; within `timeout` and what is left for all."""
    limit = min(timeout, max(left(), 1))
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, start_new_session=True, cwd=cwd, env={**os.environ, **(env or {})})
    try:
        out, error = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if limit < timeout:
            raise NotApplicable("no time left of the nine minutes") from None
        raise
    expect(expected is None or process.returncode == expected,
           f"exit code {process.returncode}: {(error or out).strip().splitlines()[-1:]}")
    return subprocess.CompletedProcess(command, process.returncode, out, error)


def record(name, *command, options=(), **keywords):
    """Records a program; its output and report.json."""
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    done = run(TOOL, "run", "-q", "-o", folder, *options, "--", *command, **keywords)
    return done, json.loads((folder / "report.json").read_text())


def events(name, *options):
    """The events of a recording."""
    return [json.loads(line) for line in run(TOOL, "dump", OUT / name, *options).stdout.splitlines()]


def python(program, *arguments):
    return [sys.executable, SAMPLES / program, *arguments]


def written(name, text):
    """A program of these checks, and the lines in it that carry a mark."""
    program = OUT / f"{name}.py"
    program.write_text(text)
    marks = {line.split("# mark: ")[1]: number for number, line in enumerate(text.splitlines(), 1) if "# mark: " in line}
    return program, marks


@functools.cache
def torch_facts():
    """What PyTorch says of itself; None without it, or where it sees no GPU."""
    text = ("import json, torch; print(json.dumps({'version': torch.__version__, 'cuda': torch.version.cuda, "
            "'devices': torch.cuda.device_count(), 'usable': torch.cuda.is_available()}))")
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    facts = json.loads(done.stdout) if done.returncode == 0 else None
    return facts if facts and facts["usable"] else None


def needs_torch():
    if torch_facts() is None:
        raise NotApplicable("PyTorch with CUDA is not installed")


def needs_gpus(count):
    if len(gpus()) < count:
        raise NotApplicable(f"needs {count} GPUs, {len(gpus())} here")


def findings(report, rule):
    return [f for f in report["findings"] if f["ruleId"] == rule and f["status"] == "measured"]


def table():
    """Runs all checks and prints their rows; the exit code."""
    print("device: " + ("; ".join(gpus()) or "no NVIDIA GPU"), flush=True)
    counts = {"pass": 0, "FAIL": 0, "n/a": 0}
    for function in CHECKS:
        began = time.monotonic()
        try:
            verdict, detail = "pass", function() or ""
        except NotApplicable as reason:
            verdict, detail = "n/a", f"not applicable: {reason}"
        except subprocess.TimeoutExpired as late:
            verdict, detail = "FAIL", f"not over after {late.timeout:.0f} s"
        except (AssertionError, OSError, ValueError, KeyError, IndexError, TypeError) as error:
            verdict, detail = "FAIL", f"{type(error).__name__}: {error}"[:200]
        counts[verdict] += 1
        print(f"{verdict:5} {function.row:66} {time.monotonic() - began:5.1f} s  {detail}", flush=True)
    print(f"{len(CHECKS)} checks in {time.monotonic() - _BEGIN:.0f} s: {counts['pass']} passed, {counts['FAIL']} failed, "
          f"{counts['n/a']} not applicable; recordings in {OUT}")
    return 1 if counts["FAIL"] else 0
