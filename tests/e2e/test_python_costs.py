"""Host time inside steps, by known costs and by the hottest functions and lines."""
import json
import sys

import pytest

pytestmark = pytest.mark.timed

MARKS = r"""
#include "collect/annotate.h"
void begin_step(void) { stallscope_range_begin("step"); }
void begin_gc(void) { stallscope_range_begin("gc"); }
void end(void) { stallscope_end(); }
"""

# Stand-ins that burn CPU time where the real libraries would. On a machine with other work the same CPU time
# takes longer in one place than in another, so the program tells how long each place took by the clock.
BURN = """
import atexit, collections, json, sys, time
took = collections.Counter()
def burn(seconds, place):
    begin = time.perf_counter()
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(200))
    took[place] += time.perf_counter() - begin
@atexit.register
def tell():
    with open(sys.argv[2], "w") as file:
        json.dump(took, file)
"""
PACKAGES = {
    "burner.py": BURN,
    "equinox/__init__.py": "",
    "equinox/_tree.py": "import jax._src.tree_util as tree\ndef tree_at(): tree.tree_flatten('tree_at')\n",
    "jax/__init__.py": "", "jax/_src/__init__.py": "",
    "jax/_src/tree_util.py": "from burner import burn\ndef tree_flatten(place): burn(0.008, place)\n",
    "torch/__init__.py": "",
    # Beside what runs, a loop that lint would find in a program of the user's own.
    "torch/serialization.py": "from burner import burn\ndef save(): burn(0.002, 'save')\n"
                              "def train(model, loader):\n    import torch\n    for batch in loader:\n"
                              "        loss = model(batch)\n        loss.backward()\n        print(loss.item())\n",
}
TRAIN = """\
import ctypes, logging, sys
from burner import burn
from equinox._tree import tree_at
from jax._src.tree_util import tree_flatten
from torch.serialization import save
marks = ctypes.CDLL(sys.argv[1])


class Slow(logging.Handler):
    def emit(self, record):
        burn(0.003, "log")


log = logging.getLogger("train")
log.addHandler(Slow())


def update():
    tree_at()  # mark: tree_at


def train():
    marks.begin_step()
    update()
    tree_flatten("flatten")  # mark: flatten
    save()  # mark: save
    log.error("loss")  # mark: log
    burn(0.01, "own")  # mark: own
    marks.begin_gc()
    burn(0.004, "gc")  # mark: gc
    marks.end()
    marks.end()


for _ in range(100):
    train()
"""

# A step that sleeps: in a child process that it waits for, and in the timer.
SLEEPER = """\
import ctypes, subprocess, sys, time
marks = ctypes.CDLL(sys.argv[1])


def temperature():
    subprocess.call(["sleep", "0.02"])  # mark: child


def train():
    marks.begin_step()
    temperature()
    time.sleep(0.02)  # mark: timer
    marks.end()


for _ in range(50):
    train()
"""


@pytest.fixture
def marks(compile_c):
    return compile_c("marks", MARKS, "-shared", "-fPIC")


@pytest.fixture
def recording(tool, marks, tmp_path):
    """The report of one run of TRAIN, and the share of the steps' time that each place took by the program's clock."""
    for name, text in PACKAGES.items():
        path = tmp_path / "site-packages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "train.py").write_text(TRAIN)
    tool("run", "-q", "-o", tmp_path / "out", "--annotate", "off", "--", sys.executable, "train.py", marks, "took.json",
         cwd=tmp_path, env={"PYTHONPATH": str(tmp_path / "site-packages")})
    took = json.loads((tmp_path / "took.json").read_text())
    return tool.report(tmp_path / "out"), {place: seconds / sum(took.values()) for place, seconds in took.items()}


def test_host_time_is_charged_to_known_costs_functions_and_lines(recording):
    report, share = recording
    rank, = report["ranks"]
    line = {text.split("# mark: ")[1]: number
            for number, text in enumerate(TRAIN.splitlines(), 1) if "# mark: " in text}
    costs = {row["cost"]: row for row in rank["hostCosts"]}
    assert set(costs) == {"tree_at", "pytree flatten and unflatten", "checkpointing", "logging", "garbage collection"}
    # What flattens inside tree_at is tree_at's. Each is told at the user's own line.
    expected = {"tree_at": "tree_at", "pytree flatten and unflatten": "flatten", "checkpointing": "save",
                "logging": "log", "garbage collection": "gc"}
    for cost, mark in expected.items():
        assert costs[cost]["fraction"] == pytest.approx(share[mark], abs=0.06), cost
        if cost != "logging":  # whose handler is the user's own too
            assert costs[cost]["line"] == line[mark], cost
    functions = {row["function"]: row for row in rank["hotFunctions"]}
    # All time is burnt in one function, and all of it lies within train().
    assert functions["burn"]["ownFraction"] > 0.9
    assert functions["train"]["inclusiveFraction"] > 0.9 and functions["train"]["ownFraction"] < 0.05
    assert functions["tree_flatten"]["inclusiveFraction"] == pytest.approx(share["tree_at"] + share["flatten"], abs=0.08)
    lines = {row["line"]: row for row in rank["hotLines"] if row["file"].endswith("train.py")}
    assert lines[line["own"]]["inclusiveFraction"] == pytest.approx(share["own"], abs=0.06)
    assert lines[line["own"]]["ownFraction"] < 0.02
    # The lines of an installed package are nobody's to mend.
    assert {place["file"] for finding in report["findings"] if finding["status"] != "measured"
            for place in finding["locations"] if "site-packages" in place["file"]} == set()


def test_a_step_that_sleeps_has_its_finding(tool, marks, tmp_path):
    (tmp_path / "train.py").write_text(SLEEPER)
    tool("run", "-q", "-o", tmp_path / "out", "--annotate", "off", "--source", "off", "--", sys.executable,
         "train.py", marks, cwd=tmp_path)
    line = {text.split("# mark: ")[1]: number
            for number, text in enumerate(SLEEPER.splitlines(), 1) if "# mark: " in text}
    found = [f for f in tool.report(tmp_path / "out")["findings"] if f["ruleId"] == "blocking-call-in-step"]
    # Without the source it is not known that the line of the timer itself only sleeps.
    assert [f["locations"][0]["line"] for f in found] == [line["child"]]
    assert found[0]["gain"]["stepTimeNs"]["mid"] > 10e6
