"""Which settings `stallscope lint` goes by, and what it says of those that cannot be meant."""
import json
import os
import subprocess

import pytest

from test_lint import lint, rules

TRAIN = """import torch
def train(model, loader, opt):
    for x, y in loader:
        loss = model(x, y)
        loss.backward()
        opt.step()
        a = loss.item()
"""
ITEM = "item-in-step"


def write(folder, **texts):
    """Files by path, "__" for "/" and "_py" for ".py" in it, or with any name in a dict."""
    for name, text in texts.items():
        put(folder, name.replace("__", "/").replace("_py", ".py"), text)


def put(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def files(found):
    return [file for _, file, _ in found]


@pytest.mark.parametrize("option", [("--select", ITEM), ("--ignore", "no-compile"), ("--exclude", "gen"),
                                    ("--rules", "my-rules")])
def test_an_option_takes_one_value_and_leaves_the_paths(tool, tmp_path, option):
    write(tmp_path, src__a_py=TRAIN, other_py=TRAIN)
    tool("rules", "new", "my-rule", "my-rules", cwd=tmp_path)
    found = lint(tool, tmp_path, *option, "src", check=1)
    assert set(files(found)) == {"src/a.py"}


def test_lists_are_repeated_or_separated_by_commas(tool, tmp_path):
    write(tmp_path, a_py=TRAIN, b_py=TRAIN, c_py=TRAIN)
    assert files(lint(tool, tmp_path, "--exclude", "a.py,b.py", ".", check=1)) == ["c.py"]
    assert files(lint(tool, tmp_path, "--exclude", "a.py", "--exclude", "b.py", check=1)) == ["c.py"]
    assert rules(lint(tool, tmp_path, "--select", "explicit-sync, item-in-step", check=1)) == {ITEM}


@pytest.mark.parametrize("text", ["# select: [item-in-step]\n", "---\n", ""])
def test_settings_may_say_nothing(tool, tmp_path, text):
    write(tmp_path, a_py=TRAIN)
    put(tmp_path, "stallscope.yml", text)
    assert rules(lint(tool, tmp_path, check=1)) == {ITEM}


def test_the_longer_ending_is_read_too(tool, tmp_path):
    write(tmp_path, a_py=TRAIN)
    put(tmp_path, "stallscope.yaml", f"ignore: [{ITEM}]\n")
    assert lint(tool, tmp_path, check=0) == []


def test_two_extended_files_may_share_a_third(tool, tmp_path):
    write(tmp_path, a_py=TRAIN)
    tool("rules", "new", "my-rule", "my-rules", cwd=tmp_path)
    put(tmp_path, "base.yml", "rules: [my-rules]\n")
    for name in ("left.yml", "right.yml"):
        put(tmp_path, name, "extends: base.yml\n")
    put(tmp_path, "stallscope.yml", "extends: [left.yml, right.yml]\n")
    assert rules(lint(tool, tmp_path, check=1)) == {ITEM}


def test_statistics_go_where_they_are_asked_to(tool, tmp_path):
    write(tmp_path, a_py=TRAIN)
    plain = tool("lint", "--statistics", "-o", "counts.txt", "--no-cache", cwd=tmp_path, check=1)
    assert plain.stdout == ""
    assert (tmp_path / "counts.txt").read_text().split() == ["1", ITEM]
    as_json = tool("lint", "--statistics", "--format", "json", "--no-cache", cwd=tmp_path, check=1)
    assert json.loads(as_json.stdout) == [{"ruleId": ITEM, "count": 1}]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_output_that_cannot_be_written_is_an_error(build, tmp_path):
    write(tmp_path, a_py=TRAIN)
    with open("/dev/full", "w", encoding="utf8") as full:
        done = subprocess.run([build / "stallscope", "lint", "--no-cache"], cwd=tmp_path, stdout=full,
                              stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2 and "could not be written" in done.stderr


@pytest.mark.parametrize("arguments", [("--select", "item-in-stp"), ("--ignore", "explicit-sync,item-in-stp")])
def test_an_option_that_names_no_rule_is_an_error(tool, tmp_path, arguments):
    write(tmp_path, a_py=TRAIN)
    done = tool("lint", *arguments, "--no-cache", cwd=tmp_path, check=2)
    assert f"{arguments[0]}: there is no rule 'item-in-stp', did you mean 'item-in-step'?" in done.stderr


@pytest.mark.parametrize("name, text, place", [
    ("stallscope.yml", "select: [item-in-stp]\n", "1:10"),
    ("stallscope.yml", "ignore:\n  - explicit-sync\n  - item-in-stp\n", "3:5"),
    ("stallscope.yml", "severities: {item-in-stp: low}\n", "1:14"),
    ("stallscope.yml", "per-path:\n  'a.py': {ignore: item-in-stp}\n", "2:20"),
    ("stallscope.yml", "per-path:\n  'a.py': {severities: {item-in-stp: low}}\n", "2:25"),
    ("sub/stallscope.yml", "ignore: [item-in-stp]\n", "1:10"),
    ("pyproject.toml", "[tool.stallscope]\nignore = ['item-in-stp']\n", "2:"),
])
def test_settings_that_name_no_rule_are_an_error_at_its_place(tool, tmp_path, name, text, place):
    write(tmp_path, a_py=TRAIN, sub__b_py=TRAIN)
    put(tmp_path, name, text)
    done = tool("lint", "--no-cache", cwd=tmp_path, check=2)
    assert f"{name}:{place}" in done.stderr and "did you mean 'item-in-step'?" in done.stderr


def test_fallbacks_and_a_projects_own_rules_are_rules(tool, tmp_path):
    write(tmp_path, one_py=TRAIN, sub__b_py=TRAIN)
    for folder in ("my-rules", "sub/more"):
        tool("rules", "new", folder.split("/")[-1] + "-rule", folder, cwd=tmp_path)
    put(tmp_path, "stallscope.yml", "rules: [my-rules]\nignore: [my-rules-rule, host-sync]\n")
    put(tmp_path, "sub/stallscope.yml", "rules: [more]\nignore: [more-rule, my-rules-rule]\n")
    assert files(lint(tool, tmp_path, ".", check=1)) == ["one.py", "sub/b.py"]


def test_a_comment_that_names_no_rule_is_answered(tool, tmp_path):
    write(tmp_path, a_py=TRAIN.replace(".item()", ".item()  # stallscope: ignore[item-in-stp] rare"))
    done = tool("lint", "--no-cache", cwd=tmp_path, check=1)
    assert "a.py:7: there is no rule 'item-in-stp', did you mean 'item-in-step'?" in done.stderr


@pytest.mark.parametrize("named", [".", "third_party", "third_party/deep/v.py", "a.py third_party/v.py"])
def test_what_is_excluded_is_so_though_it_is_named(tool, tmp_path, named):
    write(tmp_path, a_py="import torch\n", third_party__v_py=TRAIN, third_party__deep__v_py=TRAIN)
    put(tmp_path, "stallscope.yml", "exclude: [third_party]\n")
    done = tool("lint", *named.split(), "--no-cache", cwd=tmp_path)
    assert done.stdout == "" or "no findings" in done.stdout.lower()
    assert named == "." or "left out, as settings or --exclude say" in done.stderr
    assert lint(tool, tmp_path, "--stdin-filename", "third_party/v.py", stdin=TRAIN, check=0) == []


def test_ignored_files_are_read_where_they_are_named(tool, tmp_path):
    (tmp_path / ".git").mkdir()
    write(tmp_path, out__one_py=TRAIN, out__gen__b_py=TRAIN)
    put(tmp_path, ".gitignore", "out\n")
    assert lint(tool, tmp_path, check=0) == []
    assert files(lint(tool, tmp_path, "out/one.py", check=1)) == ["out/one.py"]
    assert files(lint(tool, tmp_path, "out", check=1)) == ["out/gen/b.py", "out/one.py"]
    assert files(lint(tool, tmp_path, "out", "--exclude", "out/gen", check=1)) == ["out/one.py"]


@pytest.mark.parametrize("glob, left", [
    ("gen", ["sub/t.py"]), ("gen/", ["sub/t.py"]), ("**/gen/*.py", ["sub/t.py"]),
    ("gen/**", ["sub/gen/t.py", "sub/t.py"]), ("/gen", ["sub/gen/t.py", "sub/t.py"]),
    ("./gen/", ["sub/gen/t.py", "sub/t.py"]), ("sub/gen", ["gen/t.py", "sub/t.py"]),
    ("t.py", []), ("*.py", []), ("sub/*.py", ["gen/t.py", "sub/gen/t.py"]),
    ("t.py/", ["gen/t.py", "sub/gen/t.py", "sub/t.py"]),
])
def test_globs_are_those_of_gitignore_everywhere(tool, tmp_path, glob, left):
    (tmp_path / ".git").mkdir()
    write(tmp_path, gen__t_py=TRAIN, sub__t_py=TRAIN, sub__gen__t_py=TRAIN)
    if not glob.startswith("./"):
        assert files(lint(tool, tmp_path, "--exclude", glob, check=None)) == left
    put(tmp_path, "stallscope.yml", f"exclude: ['{glob}']\n")
    assert files(lint(tool, tmp_path, check=None)) == left
    put(tmp_path, "stallscope.yml", f"per-path: {{'{glob}': {{ignore: [{ITEM}]}}}}\n")
    assert files(lint(tool, tmp_path, check=None)) == left


@pytest.mark.parametrize("paths", ["a/t.py b/t.py", "b/t.py a/t.py", "."])
def test_the_nearest_settings_of_each_file_decide(tool, tmp_path, paths):
    (tmp_path / ".git").mkdir()
    write(tmp_path, a__t_py=TRAIN, a__gen__t_py=TRAIN, b__t_py=TRAIN, b__low__t_py=TRAIN)
    put(tmp_path, "a/stallscope.yml", f"ignore: [{ITEM}]\n")
    put(tmp_path, "b/stallscope.yml", f"per-path: {{low: {{severities: {{{ITEM}: low}}}}}}\n")
    report = json.loads(tool("lint", *paths.split(), "--format", "json", "--no-cache", cwd=tmp_path, check=1).stdout)
    found = {f["locations"][0]["file"]: f["severity"] for f in report["findings"]}
    assert found["b/t.py"] == "critical" and found.get("b/low/t.py", "low") == "low"
    assert not any(file.startswith("a/") for file in found)
    assert report["rules"][ITEM]["outcome"] == "fired"


HELPER = "def log(loss):\n    return loss.item()\n"
CALLER = TRAIN.replace("loss.item()", "log(loss)").replace("import torch", "import torch\nfrom lib.helper import log")


@pytest.mark.parametrize("paths, cwd", [(".", "."), ("lib/helper.py", "."), ("lib", "."), ("helper.py", "lib")])
def test_findings_are_the_same_whichever_paths_are_named(tool, tmp_path, paths, cwd):
    (tmp_path / ".git").mkdir()
    write(tmp_path, lib__helper_py=HELPER, lib__setup_py="", lib__gen__g_py=TRAIN, train_py=CALLER)
    put(tmp_path, "lib/pyproject.toml", "[project]\nname = 'x'\n[dependency-groups]\ndev = ['stallscope']\n")
    put(tmp_path, "stallscope.yml", "exclude: ['lib/gen/**']\nper-path: {'lib/x.py': {ignore: ['host-sync']}}\n")
    found = lint(tool, tmp_path / cwd, paths, check=1)
    assert [(file.split("/")[-1], line) for _, file, line in found] == [("helper.py", 2)]


def test_a_repository_of_very_many_files_is_none_for_a_project_in_it(tool, tmp_path):
    (tmp_path / ".git").mkdir()
    write(tmp_path, sub__pyproject_toml="", sub__lib__helper_py=HELPER, train_py=CALLER.replace("lib", "sub.lib"))
    put(tmp_path, "sub/setup.cfg", "")
    assert files(lint(tool, tmp_path, "sub/lib/helper.py", check=1)) == ["sub/lib/helper.py"]
    for number in range(2001):
        put(tmp_path, f"many/m{number}.py", "")
    assert lint(tool, tmp_path, "sub/lib/helper.py", check=0) == []


def test_what_was_named_and_cannot_be_read_is_an_error(tool, tmp_path):
    write(tmp_path, a_py="import torch\n")
    put(tmp_path, "cut.ipynb", '{"cells": [{"cell_type": "code", "sou')
    put(tmp_path, "empty.ipynb", '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    put(tmp_path, "notes.txt", "")
    os.mkfifo(tmp_path / "pipe.py")
    assert "is no notebook" in tool("lint", "cut.ipynb", "--no-cache", cwd=tmp_path, check=2).stderr
    assert "cannot be read" in tool("lint", "pipe.py", "--no-cache", cwd=tmp_path, check=2).stderr
    assert "is no source file" in tool("lint", "notes.txt", "--no-cache", cwd=tmp_path, check=0).stderr
    # On the way it is a warning, wherever warnings go.
    (tmp_path / "pipe.py").unlink()
    for form in ("text", "sarif", "github"):
        warned = tool("lint", "--format", form, "--no-cache", cwd=tmp_path, check=0).stderr
        assert "cut.ipynb: is no notebook" in warned and "empty.ipynb" not in warned
    report = json.loads(tool("lint", "--format", "json", "--no-cache", cwd=tmp_path, check=0).stdout)
    assert len(report["warnings"]) == 1 and "cut.ipynb" in report["warnings"][0]


def test_each_run_ends_with_what_it_found_and_in_how_much(tool, tmp_path):
    (tmp_path / "empty").mkdir()
    write(tmp_path, one_py=TRAIN, two_py="import torch\n")
    said = lambda *arguments: tool("lint", "--no-cache", *arguments, cwd=tmp_path, check=None).stderr
    assert said() == "stallscope: 1 finding in 1 of 2 files: 1 critical\n"
    assert said("two.py") == "stallscope: no findings in 1 file\n"
    assert "there is nothing to lint" in said("empty") and "no findings" not in said("empty")
    # Formats for machines end with what machines read; a file is written in silence otherwise.
    assert said("--format", "json") == said("--quiet") == ""
    assert "1 finding in" in said("--format", "sarif", "-o", "stalls.sarif")


def test_files_of_two_projects_that_share_no_folder(tool, tmp_path, source):
    write(tmp_path, one_py=TRAIN)
    put(tmp_path, "stallscope.yml", "exclude: [one.py]\n")
    done = tool("lint", "one.py", source / "tests/e2e/conftest.py", "--no-cache", cwd=tmp_path, check=0, timeout=60)
    assert "one.py: left out" in done.stderr


@pytest.mark.parametrize("recipe", [".github/workflows/stallscope.yml", ".gitlab/stallscope.yml"])
def test_a_recipe_of_a_ci_service_is_no_settings_file(tool, tmp_path, recipe):
    (tmp_path / ".git").mkdir()
    write(tmp_path, one_py=TRAIN)
    put(tmp_path, recipe, "jobs:\n  stallscope: {script: [stallscope lint .]}\n")
    assert files(lint(tool, tmp_path, ".", check=1)) == ["one.py"]
    assert lint(tool, tmp_path, recipe, check=0) == []  # as a hook does when it was changed
