"""`stallscope run` where something about its surroundings is odd: limits, closed pipes, old finders of imports."""
import json
import os
import subprocess

import pytest
from conftest import TOOL
from python_packages import interpreters

PYTHONS = [pytest.param(path, id="%d.%d" % version) for version, path in interpreters().items()]


def run(tmp_path, *command, limits="true"):
    """`stallscope run` in a shell that has set `limits`."""
    words = [str(TOOL), "run", "-o", str(tmp_path / "out"), "--no-report", "--", *command]
    return subprocess.run(["bash", "-c", f'{limits}; exec "$@"', "bash", *words], capture_output=True, text=True)


def test_the_program_has_the_limits_and_signals_that_it_has_without(tmp_path):
    program = ["sh", "-c", "ulimit -Sn; grep -E '^Sig(Ign|Blk)' /proc/self/status"]
    plain = subprocess.run(["bash", "-c", 'ulimit -Sn 200; exec "$@"', "bash", *program],
                           capture_output=True, text=True)
    assert plain.stdout.startswith("200\n")
    assert run(tmp_path, *program, limits="ulimit -Sn 200").stdout == plain.stdout


def test_a_closed_pipe_costs_neither_the_report_nor_the_exit_code(tmp_path):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([str(TOOL), "run", "-o", str(tmp_path), "--", "sh", "-c", "exit 3"], stderr=write)
    assert done.returncode == 3
    assert json.loads((tmp_path / "report.json").read_text())["run"]["exitCode"] == 3


@pytest.mark.parametrize("python", PYTHONS)
def test_files_of_the_program_have_the_numbers_that_they_have_without(tmp_path, python):
    program = [python, "-c", "import os; print(os.open('/dev/null', 0), os.pipe())"]
    plain = subprocess.run(program, capture_output=True, text=True)
    assert run(tmp_path, *program).stdout == plain.stdout


THREADS = """
import threading, time
end = time.time() + 2
def wait():
    while time.time() < end:
        time.sleep(0.01)
threads = [threading.Thread(target=wait) for _ in range(100)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def test_more_threads_than_files_may_be_open(tool, tmp_path):
    run(tmp_path, "python3", "-c", THREADS, limits="ulimit -n 120")
    samples = [json.loads(line) for line in tool("dump", tmp_path / "out", "--kind", "sample").stdout.splitlines()]
    assert len({sample["tid"] for sample in samples}) > 90


OLD_FINDER = """
import sys
class Finder:
    def find_module(self, name, path=None):
        return None
sys.meta_path.insert(0, Finder())
import torch
print(torch.here)
"""


@pytest.mark.parametrize("python", PYTHONS)
def test_an_old_finder_of_imports_is_asked_as_without_us(tmp_path, python):
    (tmp_path / "torch.py").write_text("here = 1\n")
    program = tmp_path / "program.py"
    program.write_text(OLD_FINDER)
    done = run(tmp_path, python, str(program))
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
