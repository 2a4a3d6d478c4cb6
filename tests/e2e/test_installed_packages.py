"""Packages that an installer put beside the program (pip install --target) are not the user's own code."""
import json

HELPER = """
def grind(rounds):
    total = 0
    for i in range(rounds):
        total += i * i  # mark: package
    return total
"""
PROGRAM = """
import sys, time
sys.path.insert(0, sys.argv[1])
import helper_package
def step():
    return helper_package.grind(200000)  # mark: call
end = time.monotonic() + 1
while time.monotonic() < end:
    step()
"""


def record(tool, folder, installed):
    vendor = folder / "vendor"
    (vendor / "helper_package").mkdir(parents=True)
    (vendor / "helper_package/__init__.py").write_text("from .inside import grind\n")
    (vendor / "helper_package/inside.py").write_text(HELPER)
    if installed:
        (vendor / "helper_package-1.0.dist-info").mkdir()
        (vendor / "helper_package-1.0.dist-info/RECORD").write_text(
            "helper_package/__init__.py,sha256=x,26\nhelper_package/inside.py,sha256=y,99\n"
            "helper_package-1.0.dist-info/RECORD,,\n")
    program, out = folder / "train.py", folder / "out"
    program.write_text(PROGRAM)
    tool("run", "-q", "-o", out, "--", "python3", program, vendor)
    manifest = json.loads((out / "trace/run.json").read_text())
    return vendor, manifest["environment"].get("python.installed", "")



def test_what_an_installer_recorded_is_a_package(tool, tmp_path):
    vendor, installed = record(tool, tmp_path, True)
    assert installed == f"{vendor}/helper_package/"


def test_a_folder_without_a_record_is_the_users_own(tool, tmp_path):
    _, installed = record(tool, tmp_path, False)
    assert installed == ""
