"""Finds interpreters: all that the recorder knows, and one that has the packages a test needs, without which it is
skipped."""
import functools
import os
import pathlib
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


@functools.cache
def interpreters():
    """CPython 3.8 to 3.14, as many as are found: (major, minor) to the path of one."""
    found = {}
    candidates = sorted(pathlib.Path.home().glob(".pyenv/versions/3.*/bin/python3"))
    candidates += [pathlib.Path(path) for path in (*(shutil.which(f"python3.{minor}") for minor in range(8, 15)),
                                                   shutil.which("python3"), shutil.which("/usr/bin/python3")) if path]
    for path in candidates:
        done = subprocess.run([str(path), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                              capture_output=True, text=True)
        version = tuple(map(int, done.stdout.strip().split("."))) if done.returncode == 0 else ()
        if (3, 8) <= version <= (3, 14):
            found.setdefault(version, str(path))
    return found
