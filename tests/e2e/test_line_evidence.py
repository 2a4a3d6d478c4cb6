"""Lines that `stallscope run` saw run, and lines that it saw not run (CPython 3.12 and later)."""
import json

import pytest

from python_packages import interpreters

pytestmark = pytest.mark.timed

# A stand-in for torch: what is tested is which lines ran, not what they did.
TORCH = """
class Tensor:
    def __init__(self, value=0.0):
        self.value = value
    def backward(self): pass
    def item(self): return self.value
"""

TRAIN = """import sys
import torch


def rare(loss):
    return loss.item()  # mark: not run


def train(model, loader, optimizer):
    total = 0.0
    for x in loader:
        loss = model(x)
        loss.backward()
        optimizer.step()
        total += loss.item()  # mark: run
        if x > 10:
            total += rare(loss)
            print(loss.item())  # mark: not reached
    return total


class Optimizer:
    def step(self):
        pass


train(lambda x: torch.Tensor(x), range(5), Optimizer())
"""


def interpreter(fits=lambda version: version >= (3, 12)):
    return next((path for version, path in interpreters().items() if fits(version)), None)


@pytest.mark.skipif(interpreter() is None, reason="there is no CPython 3.12 or later here")
def test_a_line_that_did_not_run_is_said_not_to_have_run(tool, tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "torch.py").write_text(TORCH)
    (tmp_path / "train.py").write_text(TRAIN)
    tool("run", "-o", "out", "--", interpreter(), "train.py", cwd=tmp_path, check=0)
    report = json.loads((tmp_path / "out/report.json").read_text())
    found = {f["locations"][0]["line"]: f for f in report["findings"] if f["ruleId"] == "item-in-step"}
    line = {mark: TRAIN[:TRAIN.index("# mark: " + mark)].count("\n") + 1
            for mark in ("not run", "run", "not reached")}
    # It ran, but a run without a device cannot tell what waiting for one costs.
    assert found[line["run"]]["status"] == "not-seen" and found[line["run"]]["severity"] == "critical"
    assert "The line ran" in found[line["run"]]["message"] and "no device work" in found[line["run"]]["message"]
    assert found[line["not reached"]]["status"] == "not-executed"
    # The evidence is kept with the run.
    again = tool("report", "out", "--format", "json", cwd=tmp_path, check=0)
    lines = {f["locations"][0]["line"]: f["status"] for f in json.loads(again.stdout)["findings"]
             if f["ruleId"] == "item-in-step"}
    assert lines[line["not reached"]] == "not-executed"


LOOPS = """
import dis, io
def whole(n): return sum(i for i in range(n)) if n else 0
def loop(n):
    for i in range(n): n += i
    return [whole(i) for i in range(n)]
def rare(n):
    if n > 1:
        return n
    return 0
for _ in range(2): loop(2), rare(0)
def watched(code):
    dis.dis(code, adaptive=True, file=(text := io.StringIO()))
    return text.getvalue().count("INSTRUMENTED")
print([bool(watched(f.__code__)) for f in (whole, loop, rare)])
"""


@pytest.mark.parametrize("version", [(3, 12), (3, 13), (3, 14)])
def test_code_whose_lines_have_all_run_is_left_as_it_was(tool, tmp_path, version):
    python = interpreter(lambda v: v == version)
    if python is None:
        pytest.skip("there is no such CPython here")
    (tmp_path / "train.py").write_text(LOOPS)
    done = tool("run", "-o", "out", "--no-report", "--", python, "train.py", cwd=tmp_path)
    assert done.stdout == "[False, False, True]\n"


@pytest.mark.parametrize("fits", [lambda v: v < (3, 12), lambda v: v >= (3, 12)],
                         ids=["modules", "lines"])
def test_a_script_that_was_not_loaded_is_no_part_of_the_run(tool, tmp_path, fits):
    python = interpreter(fits)
    if python is None:
        pytest.skip("there is no such CPython here")
    (tmp_path / ".git").mkdir()
    (tmp_path / "torch.py").write_text(TORCH)
    (tmp_path / "other.py").write_text(TRAIN)
    (tmp_path / "elsewhere").mkdir()
    # Like a program that changes its folder: the script's own path may be relative.
    (tmp_path / "train.py").write_text(TRAIN + "\nimport os\nos.chdir('elsewhere')\n")
    tool("run", "-o", "out", "--", python, "train.py", cwd=tmp_path, check=0)
    report = json.loads((tmp_path / "out/report.json").read_text())
    assert not any(f["locations"] and f["locations"][0]["file"].endswith("other.py") for f in report["findings"])
    assert any("in 1 file beside the program left out" in warning for warning in report["warnings"])
    # Who names the folder is shown all of it; what did not run weighs less.
    tool("report", "out", "--source", ".", cwd=tmp_path, check=0)
    report = json.loads((tmp_path / "out/report.json").read_text())
    other = [f for f in report["findings"] if f["locations"] and f["locations"][0]["file"].endswith("other.py")]
    assert other and all(f["status"] == "not-seen" and f["severity"] in ("low", "info") for f in other)
    assert all("had loaded this file" in f["message"] for f in other)
    own = [f for f in report["findings"] if f["locations"] and f["locations"][0]["file"].endswith("train.py")]
    assert own and not any("had loaded this file" in f["message"] for f in own)


# The program of each process that trains: `train` in a module of its own, marked like TRAIN.
WORKER = TRAIN[:TRAIN.rindex("train(lambda")] + """def work(n):
    train(lambda x: torch.Tensor(x), range(n), Optimizer())
"""
FORKED = """import multiprocessing, os, sys, time
from worker import work

def entry():
    work(5)
    if sys.argv[2] == "exit":
        os._exit(0)
    while sys.argv[2] == "kill":
        open("worked", "w").close()
        time.sleep(1)

if __name__ == "__main__":
    child = multiprocessing.get_context(sys.argv[1]).Process(target=entry)
    child.start()
    while sys.argv[2] == "kill" and not os.path.exists("worked"):
        time.sleep(0.05)
    if sys.argv[2] == "kill":
        child.kill()
    child.join()
"""


def statuses(tool, folder, *arguments, env=None):
    """Runs a program; item-in-step's findings in worker.py by line."""
    (folder / ".git").mkdir(exist_ok=True)
    (folder / "torch.py").write_text(TORCH)
    if not (folder / "worker.py").exists():
        (folder / "worker.py").write_text(WORKER)
    tool("run", "-o", "out", "--", interpreter(), *arguments, cwd=folder, env=env, check=0)
    return worker_findings(tool.report(folder / "out"))


def worker_findings(report):
    return {f["locations"][0]["line"]: f for f in report["findings"]
            if f["ruleId"] == "item-in-step" and f["locations"][0]["file"].endswith("worker.py")}


def line_of(mark, text=WORKER):
    return text[:text.index("# mark: " + mark)].count("\n") + 1


@pytest.mark.skipif(interpreter() is None, reason="there is no CPython 3.12 or later here")
@pytest.mark.parametrize("way", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("end", ["return", "exit", "kill"])
def test_lines_of_workers_count_however_they_end(tool, tmp_path, way, end):
    (tmp_path / "main.py").write_text(FORKED)
    found = statuses(tool, tmp_path, "main.py", way, end)
    assert "The line ran" in found[line_of("run")]["message"]
    assert found[line_of("not reached")]["status"] == "not-executed"


@pytest.mark.skipif(interpreter() is None, reason="there is no CPython 3.12 or later here")
def test_a_process_without_a_word_leaves_it_open(tool, tmp_path):
    # -I takes no PYTHONPATH: that child is sampled, and its lines are not seen.
    (tmp_path / "main.py").write_text(
        "import subprocess, sys, worker\nworker.work(5)\n"
        "subprocess.run([sys.executable, '-I', '-c', 'import time; time.sleep(1)'])\n")
    found = statuses(tool, tmp_path, "main.py")
    assert found[line_of("not reached")]["status"] == "not-seen"
    assert "not every Python process" in found[line_of("not reached")]["message"]


@pytest.mark.skipif(interpreter() is None, reason="there is no CPython 3.12 or later here")
@pytest.mark.parametrize("when", ["while it runs", "afterwards"])
def test_lines_of_another_text_are_not_those_of_this_one(tool, tmp_path, when):
    edit = ("open('worker.py', 'r+').write('#' + open('worker.py').read())\n"
            if when == "while it runs" else "")
    (tmp_path / "main.py").write_text("import worker\nworker.work(5)\n" + edit)
    found = statuses(tool, tmp_path, "main.py")
    if when == "afterwards":
        assert "changed" not in found[line_of("run")]["message"]
        (tmp_path / "worker.py").write_text("\n\n" + WORKER)
        tool("report", "out", cwd=tmp_path, check=0)
        found = worker_findings(tool.report(tmp_path / "out"))
    assert found
    for finding in found.values():
        assert finding["status"] == "not-seen" and "changed since" in finding["message"]
        # Its snippet is of the text that the finding is about.
        assert "item()" in finding["snippet"]["lines"][finding["locations"][0]["line"]
                                                       - finding["snippet"]["firstLine"]]


@pytest.mark.skipif(interpreter() is None, reason="there is no CPython 3.12 or later here")
def test_functions_that_were_compiled_tell_nothing(tool, tmp_path):
    # A stand-in for Dynamo: it is known by the function that compiles.
    for name in ("lib/site-packages/torch", "lib/site-packages/torch/_dynamo"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "__init__.py").write_text("")
    (tmp_path / "lib/site-packages/torch/_dynamo/convert_frame.py").write_text("def _compile(): pass\n")
    (tmp_path / "main.py").write_text(
        "import sys, worker\nworker.work(5)\nsys.path.insert(0, 'lib/site-packages')\n"
        "del sys.modules['torch']\nfrom torch._dynamo import convert_frame\nconvert_frame._compile()\n")
    found = statuses(tool, tmp_path, "main.py")
    # train() ran as it is written, rare() did not.
    assert found[line_of("not reached")]["status"] == "not-executed"
    rare = found.get(line_of("not run"))
    assert rare is None or (rare["status"] == "not-seen" and "compiled" in rare["message"])


@pytest.mark.parametrize("start", ["module", "shell", "elsewhere"])
def test_the_program_is_found_however_it_is_started(tool, tmp_path, start):
    python = interpreter(lambda version: version >= (3, 8))
    if python is None:
        pytest.skip("there is no such CPython here")
    package = tmp_path / "work/pkg"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "worker.py").write_text(WORKER)
    (package / "train.py").write_text("from pkg.worker import work\nwork(5)\n")
    (tmp_path / "work/torch.py").write_text(TORCH)
    # A file of the script's name where the report is made is another program.
    (tmp_path / "run_it.py").write_text("print('another')\n")
    (tmp_path / "work/run_it.py").write_text("import pkg.train\n")
    (tmp_path / "work/go.sh").write_text(f"cd . && {python} -m pkg.train\n")
    command = {"module": [python, "-m", "pkg.train"], "shell": ["sh", "go.sh"],
               "elsewhere": [python, "run_it.py"]}[start]
    tool("run", "-o", tmp_path / "out", "--", *command, cwd=tmp_path / "work", check=0)
    tool("report", "out", cwd=tmp_path, check=0)
    assert worker_findings(tool.report(tmp_path / "out"))
