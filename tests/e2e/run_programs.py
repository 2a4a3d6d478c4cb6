"""What the tests of `stallscope run` share: programs built on the spot, and what a run left."""
import json
import os
import pathlib
import subprocess

SOURCE = pathlib.Path(os.environ.get("STALLSCOPE_SOURCE", pathlib.Path(__file__).parents[2]))
NVTX = SOURCE / "deps/nvtx"


def build(folder, text, name="program"):
    source = folder / f"{name}.c"
    source.write_text(text)
    subprocess.run(["cc", "-O1", "-g", f"-I{NVTX}", str(source), "-o", str(folder / name), "-ldl"],
                   check=True)
    return str(folder / name)


def report_of(folder):
    return json.loads((folder / "report.json").read_text())


def events_of(tool, folder):
    return [json.loads(line) for line in tool("dump", str(folder)).stdout.splitlines()]
