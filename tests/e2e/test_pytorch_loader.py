"""A slow dataset in the training process, in forked and in spawned workers: the line is named."""
import pytest

from python_packages import python_with

pytestmark = pytest.mark.timed

PROGRAM = """
import sys, torch
from torch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 480
    def __getitem__(self, i):
        total = 0
        for k in range(40000):
            total += k * i % 7
        return torch.full((64,), float(total % 5)), i % 4

def main():
    torch.set_num_threads(1)
    model = torch.nn.Linear(64, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    method = sys.argv[1]
    workers = {} if method == "none" else dict(num_workers=1, multiprocessing_context=method)
    loader = DataLoader(Slow(), batch_size=16, **workers)
    for x, y in loader:  # the wait
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    print("done")

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("method", ["none", "fork", "spawn"])
def test_a_slow_dataset_is_found(tool, tmp_path, method):
    program, out = tmp_path / "program.py", tmp_path / "out"
    program.write_text(PROGRAM)
    lines = PROGRAM.splitlines()
    wait = next(number for number, line in enumerate(lines, 1) if "# the wait" in line)
    loop = next(number for number, line in enumerate(lines, 1) if "for k in" in line)
    done = tool("run", "-q", "-o", out, "--", python_with("torch"), program, method, cwd=tmp_path)
    assert done.stdout == "done\n"
    report = tool.report(out)
    found = {f["ruleId"]: f for f in report["findings"] if f["status"] == "measured"}
    rank, = report["ranks"]
    classes = {item["class"]: item["fraction"] for item in rank["breakdown"]}
    assert classes["input-wait"] > 0.5
    if method == "none":
        assert found["loader-no-workers"]["status"] == "measured"
        assert found["python-in-step"]["locations"][0]["function"] == "Slow.__getitem__"
        assert found["python-in-step"]["locations"][0]["line"] in (loop, loop + 1)
    else:
        assert found["loader-slow-workers"]["locations"][0]["line"] == wait
        cause = found["loader-slow-workers"]["cause"]
        assert "Slow.__getitem__ in the workers" in cause
        assert f"program.py:{loop}" in cause or f"program.py:{loop + 1}" in cause
