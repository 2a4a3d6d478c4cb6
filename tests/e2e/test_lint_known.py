"""What `stallscope lint` takes for known: --diff, and baselines."""
import json

import pytest

from test_lint import git, lint
from test_lint_settings import TRAIN, files, put, write


@pytest.fixture
def repository(tmp_path):
    """A repository whose one commit has train.py."""
    git(tmp_path, "init", "-q")
    write(tmp_path, train_py=TRAIN)
    commit(tmp_path)
    return tmp_path


def commit(folder):
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "x")


def test_equal_code_in_several_files_is_counted(tool, tmp_path):
    git(tmp_path, "init", "-q")
    helpers = "abcd"
    for name in helpers:
        put(tmp_path, f"h_{name}.py", "def log(loss):\n    return loss.item()\n")

    def train(called):
        calls = "".join(f"        l{name}(loss)\n" for name in called)
        imports = "".join(f"from h_{name} import log as l{name}\n" for name in helpers)
        put(tmp_path, "train.py", imports + TRAIN.replace("        a = loss.item()\n", calls))
    train("a")
    commit(tmp_path)
    train(helpers)
    assert sorted(files(lint(tool, tmp_path, "--diff", "HEAD", check=1))) == ["h_b.py", "h_c.py", "h_d.py"]


@pytest.mark.parametrize("paths", [(), ("aaa.py",), ("aaa.py", "train.py")])
@pytest.mark.parametrize("known", ["--diff", "--baseline"])
def test_a_copy_is_new_and_what_it_was_copied_from_is_not(tool, repository, known, paths):
    tool("lint", "--baseline", "known.json", "--update-baseline", "--no-cache", cwd=repository)
    put(repository, "aaa.py", TRAIN)
    arguments = (known, "HEAD" if known == "--diff" else "known.json")
    assert files(lint(tool, repository, *paths, *arguments, check=1)) == ["aaa.py"]
    assert lint(tool, repository, "train.py", *arguments, check=0) == []


@pytest.mark.parametrize("known", ["--diff", "--baseline"])
def test_a_renamed_file_is_known(tool, repository, known):
    tool("lint", "--baseline", "known.json", "--update-baseline", "--no-cache", cwd=repository)
    git(repository, "mv", "train.py", "renamed.py")
    git(repository, "config", "diff.renames", "false")
    assert lint(tool, repository, known, "HEAD" if known == "--diff" else "known.json", check=0) == []


@pytest.mark.parametrize("name", ["train.py", "with blank.py", 'quo"te.py', "tab\tä.py"])
@pytest.mark.parametrize("setting", ["diff.mnemonicPrefix", "diff.noprefix", "color.diff=always",
                                     "diff.external=/bin/true", "diff.interHunkContext=9"])
def test_a_diff_is_the_same_whatever_the_settings_of_git(tool, tmp_path, setting, name):
    git(tmp_path, "init", "-q")
    put(tmp_path, name, TRAIN + "\n")
    commit(tmp_path)
    git(tmp_path, "config", *(setting if "=" in setting else setting + "=true").split("="))
    # The same code by its fingerprint: only the changed line says that it is new.
    put(tmp_path, name, TRAIN.replace("loss.item()", "loss.item( )") + "\n++ b/x\n")
    found = lint(tool, tmp_path, "--diff", "HEAD", check=None)
    assert (name, 7) in [(file, line) for _, file, line in found]


def test_a_diff_is_the_same_whatever_the_variables_of_git(tool, repository):
    put(repository, "train.py", TRAIN.replace("import torch", "import torch\nimport os"))
    arguments = ("lint", "--diff", "HEAD", "--no-cache")
    for env in ({}, {"GIT_DIFF_OPTS": "-u9"}, {"GIT_EXTERNAL_DIFF": "/bin/true"}):
        tool(*arguments, cwd=repository, env=env, check=0)


def test_submodules_are_compared_too(tool, repository, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    git(other, "init", "-q")
    write(other, inner_py=TRAIN)
    commit(other)
    git(repository, "-c", "protocol.file.allow=always", "submodule", "add", "-q", other, "lib")
    commit(repository)
    assert lint(tool, repository, "--diff", "HEAD", check=0) == []
    put(repository, "lib/inner.py", TRAIN + "        b = loss.item()\n")
    assert lint(tool, repository, "--diff", "HEAD", check=1) == [("item-in-step", "lib/inner.py", 8)]


@pytest.mark.parametrize("revision, error", [("--output=made", "knows no revision"), ("nope", "knows no revision"),
                                             ("HEAD;touch made", "knows no revision")])
def test_a_revision_that_is_none_is_named(tool, repository, revision, error):
    done = tool("lint", f"--diff={revision}", "--no-cache", cwd=repository, check=2)
    assert error in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (repository / "made").exists()


def test_a_diff_outside_a_repository_is_an_error_of_one_line(tool, tmp_path):
    write(tmp_path, a_py=TRAIN)
    done = tool("lint", "--diff", "HEAD", "--no-cache", cwd=tmp_path, check=2)
    assert "not a git repository" in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("arguments, error", [
    (("--update-baseline",), "no baseline file is named"),
    (("--update-baseline", "--baseline", "b.json", "--diff", "HEAD"), "Give one of them"),
    (("--baseline", "b.json"), "Write it with --update-baseline"),
])
def test_baselines_that_cannot_be_meant(tool, repository, arguments, error):
    assert error in tool("lint", *arguments, "--no-cache", cwd=repository, check=2).stderr
    assert not (repository / "b.json").exists()


def test_an_update_of_some_files_keeps_what_others_have(tool, repository):
    write(repository, other_py=TRAIN, gone_py=TRAIN)
    update = ("lint", "--baseline", "b.json", "--update-baseline", "--no-cache")
    tool(*update, cwd=repository)
    (repository / "gone.py").unlink()
    put(repository, "train.py", TRAIN + "        b = loss.cpu()\n")
    tool(*update, "train.py", cwd=repository)
    entries = json.loads((repository / "b.json").read_text())["findings"]
    assert {e["file"] for e in entries} == {"train.py", "other.py"}
    assert len([e for e in entries if e["file"] == "train.py"]) == 2
    # Nor does an update by some rules lose what others had found.
    tool(*update, "--select", "explicit-sync", cwd=repository)
    tool(*update, "--ignore", "item-in-step", "train.py", cwd=repository)
    assert lint(tool, repository, "--baseline", "b.json", check=0) == []
