"""Slow Python planted where PyTorch calls it: in a backward pass (on the caller's thread or on another), in a tensor's
hook, behind a graph break of a compiled function, in a forked child that trains. The finding names the planted line."""
import pytest

from python_packages import python_with

pytestmark = pytest.mark.timed

PROGRAM = """
import sys, threading, torch
torch.manual_seed(0)
torch.set_num_threads(1)

def planted(n):
    total = 0
    for k in range(300000):
        total += k * n % 7  # planted
    return total

class Scale(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x * 2
    @staticmethod
    def backward(context, gradient):
        planted(3)
        return gradient * 2

def hook(gradient):
    planted(3)
    return gradient

# Dynamo would run the loop once, while it compiles.
eager = torch.compiler.disable(planted)

def after_break(x):
    x = torch.relu(x)
    eager(3)  # breaks the graph
    return x * 2

def train(way):
    model = torch.nn.Linear(64, 64)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    extra = torch.compile(after_break, backend="eager") if way == "compiled" else lambda x: x
    for _ in range(40):
        optimizer.zero_grad()
        y = extra(model(torch.ones(32, 64)))
        if way in ("backward", "thread"):
            y = Scale.apply(y)
        if way == "hook":
            y.register_hook(hook)
        if way in ("plain", "child"):
            planted(3)
        loss = y.square().mean()
        if way == "thread":
            thread = threading.Thread(target=loss.backward)
            thread.start()
            thread.join()
        else:
            loss.backward()
        optimizer.step()

if __name__ == "__main__":
    if sys.argv[1] == "child":
        import multiprocessing
        child = multiprocessing.get_context("fork").Process(target=train, args=("child",))
        child.start()
        child.join()
    else:
        train(sys.argv[1])
    print("done")
"""
LINES = PROGRAM.splitlines()
LOOP = {number for number, line in enumerate(LINES, 1) if "for k in" in line or "# planted" in line}


@pytest.mark.parametrize("way", ["plain", "backward", "thread", "hook", "compiled", "child"])
def test_the_planted_line_is_named(tool, tmp_path, way):
    program, out = tmp_path / "program.py", tmp_path / "out"
    program.write_text(PROGRAM)
    done = tool("run", "-q", "-o", out, "--", python_with("torch"), program, way, cwd=tmp_path)
    assert done.stdout == "done\n"
    check(tool.report(out), way)


def check(report, way):
    found = [f for f in report["findings"] if f["status"] == "measured" and f["locations"]]
    if way == "thread":
        # The step waits in join (and, with few CPUs, in start); what for is the other thread's line.
        waits = {LINES.index(f"            thread.{call}()") + 1 for call in ("start", "join")}
        for wait in (f for f in found if f["ruleId"] == "blocking-call-in-step"):
            assert wait["locations"][0]["line"] in waits, wait
            # A thread that has only just started runs other lines.
            assert wait["locations"][0]["line"] != max(waits) or any(
                f"planted on another thread (program.py:{line})" in (wait["cause"] or "") for line in LOOP), wait
        return
    for finding in (f for f in found if f["ruleId"] == "python-in-step"):
        place = finding["locations"][0]
        assert place["function"] == "planted" and place["line"] in LOOP and place["file"].endswith("program.py"), place
    for rows in ("hotFunctions", "hotLines"):
        hottest = max((row for rank in report["ranks"] for row in rank[rows] or ()), key=lambda row: row["ownNs"])
        assert hottest["function"] == "planted", hottest
    assert hottest["line"] in LOOP, hottest
