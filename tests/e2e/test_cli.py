"""The command line as a user meets it."""
import re


def test_version_and_help(tool):
    assert re.fullmatch(r"stallscope \d+\.\d+\.\d+\n", tool("--version").stdout)
    assert "Usage" in tool("--help").stdout

