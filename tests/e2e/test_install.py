"""An installed tree works from wherever it is moved to."""
import json
import os
import shutil
import subprocess

from conftest import BUILD


def test_a_moved_installation_records_and_reports(tmp_path):
    first, moved = tmp_path / "first", tmp_path / "moved tree"
    subprocess.run(["cmake", "--install", str(BUILD), "--prefix", str(first)], check=True,
                   stdout=subprocess.DEVNULL)
    shutil.move(first, moved)
    size = sum(path.lstat().st_size for path in moved.rglob("*") if path.is_file())
    assert size < 72 * 2**20
    tool = moved / "bin/stallscope"
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("STALLSCOPE")}
    out = tmp_path / "out"
    done = subprocess.run([str(tool), "run", "-o", str(out), "--", "sh", "-c", "echo $LD_PRELOAD"],
                          env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # The dynamic linker would split a path with a space.
    assert " " not in done.stdout.strip() and "cannot be preloaded" not in done.stderr
    assert json.loads((out / "report.json").read_text())["tool"]["name"] == "stallscope"
    assert "rules" in {path.name for path in (moved / "share/stallscope").iterdir()}
    assert (moved / "share/stallscope/docs/item-in-step.md").is_file()
    capabilities = json.loads(subprocess.run([str(tool), "doctor", "--format", "json"],
                                             env=environment, capture_output=True,
                                             text=True).stdout)["capabilities"]
    libraries = subprocess.run(["ldd", str(tool)], capture_output=True, text=True).stdout
    fmt = next(line for line in libraries.splitlines() if "libfmt" in line)
    assert "/lib/stallscope/libfmt" in fmt, "the tree does not carry what it is linked with"
    nvtx = next(each for each in capabilities if each["name"] == "nvtx")
    assert str(moved) in nvtx["detail"]
