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
def _builds():
    """CPython as it is found: in $STALLSCOPE_TEST_PYTHONS (paths with colons between), in pyenv, on PATH.
    (major, minor, whether it is a free-threaded build) to the path of one."""
    found = {}
    names = [f"python3.{minor}{build}" for minor in range(8, 15) for build in ("", "t")]
    candidates = [path for path in os.environ.get("STALLSCOPE_TEST_PYTHONS", "").split(":") if path]
    candidates += sorted(pathlib.Path.home().glob(".pyenv/versions/3.*/bin/python3"))
    candidates += [shutil.which(name) for name in (*names, "python3", "/usr/bin/python3")]
    for path in candidates:
        done = path and subprocess.run(
            [str(path), "-c", "import sys; print(*sys.version_info[:2], 't' in getattr(sys, 'abiflags', ''))"],
            capture_output=True, text=True)
        if done and done.returncode == 0:
            major, minor, free_threaded = done.stdout.split()
            found.setdefault((int(major), int(minor), free_threaded == "True"), str(path))
    return found


def interpreters():
    """CPython 3.8 to 3.14, as many as are found: (major, minor) to the path of one."""
    return {version[:2]: path for version, path in _builds().items()
            if (3, 8) <= version[:2] <= (3, 14) and not version[2]}


def free_threaded_interpreters():
    """The same for builds without the interpreter's lock."""
    return {version[:2]: path for version, path in _builds().items() if version[2]}
