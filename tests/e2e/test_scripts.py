"""scripts/*.sh: what is mistyped is told before anything is installed or built."""
import shutil
import subprocess

import pytest


@pytest.fixture(scope="module")
def project(source, tmp_path_factory):
    """The project's scripts, where whatever would install or build fails with a code of its own."""
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(source / "scripts", root / "scripts")
    (root / "scripts/setup.sh").write_text("#!/bin/sh\nexit 99\n")
    for sample in ("item-in-step/stalled.cpp", "pytorch/item-in-step/stalled.py"):
        (root / "samples" / sample).parent.mkdir(parents=True)
        (root / "samples" / sample).write_text("")
    return root


def script(project, *words):
    return subprocess.run([project / "scripts" / words[0], *words[1:]], capture_output=True, text=True,
                          timeout=60)


@pytest.mark.parametrize("words,says", [
    (["demo.sh", "nosuch"], "choose one of:\n  item-in-step\n"),
    (["demo.sh", "pytorch/item-in-step"], "choose one of:\n  item-in-step\n"),  # nothing is built of it
    (["build.sh", "debug"], "use release, asan, tsan or fuzz"),
    (["bench.sh", "lint", "nosuch"], "no benchmark 'nosuch'"),
    (["test.sh", "quik"], "use quick")])
def test_a_word_that_is_none(project, words, says):
    done = script(project, *words)
    assert (done.returncode, done.stdout) == (2, "") and says in done.stderr


@pytest.mark.parametrize("name", ["demo.sh", "build.sh", "bench.sh", "test.sh"])
def test_help_is_the_comment_at_the_head(project, name):
    done = script(project, name, "--help")
    assert (done.returncode, done.stderr) == (0, "") and f"scripts/{name}" in done.stdout


@pytest.mark.parametrize("words", [["demo.sh"], ["build.sh", "release"], ["bench.sh", "lint"],
                                   ["test.sh", "quick"]])
def test_what_is_right_goes_on(project, words):
    assert script(project, *words).returncode == 99
