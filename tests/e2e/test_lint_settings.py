"""Which settings `stallscope lint` goes by, and what it says of those that cannot be meant."""
import json
import os
import subprocess

import pytest

from test_lint import git, lint, rules

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
