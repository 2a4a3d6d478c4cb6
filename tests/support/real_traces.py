"""Where the real GPU traces lie that are too large, or not ours, to be committed.

A benchmark that needs one and has none ends with exit code 77: skipped.
"""
import os
import pathlib
import sys

SKIPPED = 77
FOLDER = pathlib.Path(os.environ.get("STALLSCOPE_TRACES",
                                     pathlib.Path(__file__).resolve().parents[3] / "shared/data/traces"))


def real_trace(name):
    """The path of a real trace; ends the program where there is none."""
    path = FOLDER / name
    if path.exists():
        return str(path)
    print(f"skipped: needs the real trace {name}; name its folder in STALLSCOPE_TRACES (looked in {FOLDER})",
          file=sys.stderr)
    sys.exit(SKIPPED)
