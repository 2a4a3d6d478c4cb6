"""`stallscope diff` and `stallscope check` on traces with planted changes."""
import json

from kineto_steps import write_trace


def runs(folder, name, count, shift=0.0, seed=0, **kwargs):
    """`count` runs that differ by half a percent among themselves."""
    wobble = [-0.005, 0.004, 0.0, 0.005, -0.004]
    return [write_trace(folder / f"{name}{i}.json.gz", level=shift + wobble[(i + seed) % 5], seed=seed * 10 + i, **kwargs)
            for i in range(count)]


def test_a_planted_slow_down_is_found_with_five_runs_a_side(tool, tmp_path):
    before, after = runs(tmp_path, "a", 5), runs(tmp_path, "b", 5, shift=0.03, seed=2)
    done = tool("diff", *before, "--against", *after, "--format", "json")
    found = json.loads(done.stdout)
    assert found["verdict"] == "slower"
    assert found["interval"]["low"] > 0
    assert abs(found["interval"]["mid"] - 0.03) < 0.01
    assert found["runSpread"]["assumed"] is False
    assert found["kernels"][0]["changeNs"] > 0
    assert sum(row["changeNs"] for row in found["classes"]) > 0
    tool("diff", *before, "--against", *after, "--exit-code", check=1)


def test_a_run_compared_with_itself_shows_no_evidence(tool, tmp_path):
    before, after = runs(tmp_path, "a", 2), runs(tmp_path, "b", 2, seed=1)
    for sides in ([before[0], before[0]], [before[0], after[0]], [*before, "--against", *after]):
        assert json.loads(tool("diff", *sides, "--format", "json").stdout)["verdict"] == "no-evidence"


def test_findings_that_came_and_went(tool, tmp_path):
    quiet, stalled = write_trace(tmp_path / "q.json.gz"), write_trace(tmp_path / "s.json.gz", sync=True)
    for order, change in (([quiet, stalled], "new"), ([stalled, quiet], "gone")):
        found = json.loads(tool("diff", *order, "--format", "json").stdout)
        assert change in {row["change"] for row in found["findings"] if row["place"] == "train.py:52"}


def test_reports_and_traces_may_be_mixed_and_every_format_says_the_verdict(tool, tmp_path):
    slow = write_trace(tmp_path / "slow.json.gz", level=0.3)
    fast = write_trace(tmp_path / "fast.json.gz")
    tool("report", slow, "-o", tmp_path / "out")
    for side in (tmp_path / "out", tmp_path / "out/report.json"):
        for form in ("text", "markdown", "html"):
            assert "Faster" in tool("diff", side, fast, "--format", form).stdout
    tool("diff", slow, fast, "--format", "html", "-o", tmp_path / "diff.html")
    assert "<script" not in (tmp_path / "diff.html").read_text()


def test_data_that_cannot_carry_a_verdict_abstains(tool, tmp_path):
    short, good = write_trace(tmp_path / "short.json.gz", steps=2), write_trace(tmp_path / "good.json.gz")
    found = json.loads(tool("diff", short, good, "--format", "json").stdout)
    assert found["verdict"] == "abstain"
    assert found["interval"] is None
    assert found["abstentions"]
    assert found["findings"] == []  # what a run without a verdict does not show may be there all the same


def test_what_is_no_run_is_refused(tool, tmp_path):
    (tmp_path / "x.json").write_text('{"$schema": "urn:stallscope:report:1.0", "ranks": 7}')
    good = write_trace(tmp_path / "good.json.gz")
    assert "x.json" in tool("diff", tmp_path / "x.json", good, check=2).stderr
    tool("diff", good, check=2)
    tool("diff", good, tmp_path / "absent", check=2)


def check_with(tool, folder, text, *args, code):
    (folder / "stallscope.yml").write_text(text)
    return tool("check", *args, "--config", folder / "stallscope.yml", check=code)


def test_budgets_findings_and_severity(tool, tmp_path):
    stalled = write_trace(tmp_path / "s.json.gz", sync=True)
    for text, code in (("check: {step-time: <= 1 s}", 0),
                       ("check: {step-time: <= 1 ms}", 1),
                       ("check: {classes: {compute: <= 100 %}}", 0),
                       ("check: {classes: {compute: <= 10 %}}", 1),
                       ("check: {classes: {compute: <= 1 us}}", 1),
                       ("check: {findings: {item-in-step: 0}}", 1),
                       ("check: {findings: {item-in-step: 5}}", 0),
                       ("check: {findings: {info: 0}}", 1),
                       ("check: {findings: {gc-in-step: 0}}", 0)):
        check_with(tool, tmp_path, text, stalled, code=code)
    failed = check_with(tool, tmp_path, "check: {findings: {item-in-step: 0}}", stalled, code=1).stdout
    for word in ("FAILED", "expected:", "found:", "evidence:", "train.py:52", "next:"):
        assert word in failed


def test_rules_of_the_settings_are_looked_for(tool, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/my-sync.yaml").write_text(
        "id: my-sync\ntitle: Mine\nseverity: high\nlanguages: [python]\nwhy: w\n"
        "trace: {observe: host-sync}\ngain: {model: remove-sync}\n")
    (tmp_path / "stallscope.yml").write_text("rules: [mine]\ncheck: {findings: {my-sync: 0}}\n")
    stalled, quiet = write_trace(tmp_path / "s.json.gz", sync=True), write_trace(tmp_path / "q.json.gz")
    done = tool("check", stalled, cwd=tmp_path, check=1)
    assert "my-sync" in done.stdout and "FAILED" in done.stdout
    tool("check", quiet, cwd=tmp_path)
    tool("check", quiet, "--rules", "mine", cwd=tmp_path)  # named twice, it is the same folder


def test_a_baseline_is_written_and_held(tool, tmp_path):
    text = "check: {baseline: base.json, tolerance: 2 %, repeats: 3, no-new: [all]}"
    good, slow = runs(tmp_path, "g", 3), runs(tmp_path, "s", 3, shift=0.08, seed=1, sync=True)
    assert "no baseline" in check_with(tool, tmp_path, text, *good, code=2).stdout
    check_with(tool, tmp_path, text, *good, "--update-baseline", code=0)
    check_with(tool, tmp_path, text, *runs(tmp_path, "h", 3, seed=3), code=0)
    failed = json.loads(check_with(tool, tmp_path, text, *slow, "--format", "json", code=1).stdout)
    assert {row["assertion"] for row in failed["assertions"] if row["outcome"] == "failed"} == {
        "step-time against the baseline", "no new findings"}
    check_with(tool, tmp_path, text, good[0], code=2)  # too few repeats


def test_a_wrong_configuration_is_refused_with_its_place(tool, tmp_path):
    good = write_trace(tmp_path / "g.json.gz")
    for text, word in (("check: {class: {compute: 5}}", "classes"),
                       ("check: {classes: {host-snyc: 5 %}}", "host-sync"),
                       ("check: {repeats: 0}", "repeats"),
                       ("check: {findings: {item-in-stp: 0}}", "did you mean 'item-in-step'"),
                       ("check: {findings: {all: 0}}", "no rule 'all'"),
                       ("check: {no-new: [all, explicit-snc]}", "did you mean 'explicit-sync'"),
                       ("check: {no-new: [critical]}", "stallscope.yml:1"),
                       ("ignore: [item-in-step]\ncheck: {findings: {item-in-step: 0}}", "switch off"),
                       ("select: [item-in-step]\ncheck: {no-new: [explicit-sync]}", "switch off"),
                       ("check: [", "stallscope.yml:1"),
                       ("exclude: [x]", "asserts nothing")):
        assert word in check_with(tool, tmp_path, text, good, code=2).stderr
