"""The PyTorch and JAX samples under the linter: the marked lines and no others. (Neither is needed.)"""
import json

import pytest

from expected_lines import expected_lines


@pytest.mark.parametrize("name, lines", [("pytorch", 9), ("jax", 2)])
def test_lint_finds_the_marked_lines_and_nothing_in_the_fixed_twins(tool, source, name, lines):
    folder = source / "samples" / name
    expected = {(path.relative_to(folder).as_posix(), line, rule)
                for path in folder.rglob("*.py") for line, rule in expected_lines(path)}
    assert len(expected) == lines

    done = tool("lint", "--no-cache", "--format", "json", folder, check=1)
    findings = json.loads(done.stdout)["findings"]
    found = set()
    for finding in findings:
        if finding["severity"] == "info":
            continue
        file = finding["locations"][0]["file"].split(f"samples/{name}/")[-1]
        found.add((file, finding["locations"][0]["line"], finding["ruleId"]))
    assert found == expected
