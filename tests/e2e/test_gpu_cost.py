"""What each level of --gpu costs: as scripts/gpu-check.sh measured it here, or that nobody did. No figure is invented."""
import re

import pytest

NOT_MEASURED = "cost not measured on this machine (scripts/gpu-check.sh measures it)"


def help_of(tool, cache):
    text = tool("run", "--help", env={"XDG_CACHE_HOME": str(cache)}).stdout
    return re.sub(r"\s+", " ", text)


def level_of(tool, tmp_path, cache, level):
    out = tmp_path / "out"
    tool("run", "-q", "--force", "--gpu", level, "-o", out, "--", "true", env={"XDG_CACHE_HOME": str(cache)})
    report = tool.report(out)["environment"]["gpu.level"]
    assert report in (out / "report.html").read_text()
    return report


def test_what_was_never_measured_has_no_figure(tool, tmp_path):
    text = help_of(tool, tmp_path)
    assert text.count(NOT_MEASURED) == 2 and "none (no cost: nothing of it is loaded)" in text
    assert level_of(tool, tmp_path, tmp_path, "light") == f"light; {NOT_MEASURED}"
    assert level_of(tool, tmp_path, tmp_path, "none") == "none; no cost: nothing of it is loaded"


def test_what_was_measured_is_said_for_its_level(tool, tmp_path):
    (tmp_path / "stallscope").mkdir()
    (tmp_path / "stallscope/gpu-cost").write_text("light +0.4 % of a step (fake device)\nlightning 9 %\n")
    text = help_of(tool, tmp_path)
    assert "cost measured on this machine: +0.4 % of a step (fake device)" in text
    assert text.count(NOT_MEASURED) == 1  # of the full level nobody knows
    assert level_of(tool, tmp_path, tmp_path, "light").endswith("+0.4 % of a step (fake device)")
    assert level_of(tool, tmp_path, tmp_path, "full") == f"full; {NOT_MEASURED}"


@pytest.mark.parametrize("content", ["", "light\n", "light \n", "light \033[31mred\n", "light " + "x" * 1000, "\0" * 4000],
                         ids=["empty", "no clause", "blank", "escape", "long", "zeros"])
def test_a_damaged_file_says_nothing(tool, tmp_path, content):
    (tmp_path / "stallscope").mkdir()
    (tmp_path / "stallscope/gpu-cost").write_text(content)
    assert help_of(tool, tmp_path).count(NOT_MEASURED) == 2
