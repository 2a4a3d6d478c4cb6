"""Finds an interpreter that has the packages a test needs; without one the test is skipped."""
import functools
import os
import shutil
import subprocess

import pytest


@functools.cache
def _has(python, package):
    return subprocess.run([python, "-c", f"import importlib.util as u, sys; sys.exit(not u.find_spec({package!r}))"],
                          capture_output=True).returncode == 0


def python_with(*packages):
    """$STALLSCOPE_TEST_PYTHON or python3, when it has the packages; else skips the test."""
    python = os.environ.get("STALLSCOPE_TEST_PYTHON") or shutil.which("python3")
    missing = [package for package in packages if python is None or not _has(python, package)]
    if missing:
        pytest.skip(f"{python} lacks {', '.join(missing)}: set STALLSCOPE_TEST_PYTHON to one that has them")
    return python
