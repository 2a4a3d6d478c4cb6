"""The command line as a user meets it."""
import re

import pytest


def test_version_and_help(tool):
    assert re.fullmatch(r"stallscope \d+\.\d+\.\d+\n", tool("--version").stdout)
    assert "Usage" in tool("--help").stdout



@pytest.mark.parametrize("number", ["-1", "nan", "inf", "soon"])
@pytest.mark.parametrize("command", [["run", "--delay"], ["run", "--duration"],
                                     ["bench", "--sparsity"]])
def test_a_number_that_is_none_is_told_in_few_words(tool, tmp_path, command, number):
    done = tool(*command, f"{number}", cwd=tmp_path, check=2)
    assert f"'{number}' is no number of 0 or more" in done.stderr and len(done.stderr) < 200


@pytest.mark.parametrize("program,says", [
    ("train.py", "stallscope run -- python train.py"),
    ("./train.py", "stallscope run -- python ./train.py"),
    ("train", "name its folder: ./train"),
    ("./train", "chmod +x ./train"),
    ("./", "no such program"),
    ("trian", "no such program")])
def test_a_script_without_its_interpreter_is_told_what_to_add(tool, tmp_path, program, says):
    for name in ("train", "train.py"):
        (tmp_path / name).write_text("")
    done = tool("run", "--", program, cwd=tmp_path, check=2)
    assert f"cannot start '{program}'" in done.stderr and says in done.stderr
    assert not (tmp_path / "stallscope-report").exists()
