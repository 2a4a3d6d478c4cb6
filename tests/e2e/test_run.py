"""`stallscope run` as a user runs it, on small C programs with NVTX ranges."""
import json
import os
import signal
import subprocess
import time

import pytest
from conftest import TOOL
from run_programs import NVTX, SOURCE, build, events_of, report_of

pytestmark = pytest.mark.timed

STEPS_C = r"""
#include <nvtx3/nvToolsExt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* steps COUNT [ACTION]: COUNT ranges "step" of 3 ms, then ACTION. */
int main(int argc, char** argv) {
  const int count = atoi(argv[1]);
  const char* action = argc > 2 ? argv[2] : "";
  if (strcmp(action, "close") == 0)
    for (int fd = 3; fd < 256; ++fd) close(fd);
  for (int i = 0; i < count; ++i) {
    nvtxRangePushA("step");
    nvtxRangePushA("forward");
    usleep(2000);
    nvtxRangePop();
    usleep(1000);
    nvtxRangePop();
    if (i == 5) { printf("half way\n"); fflush(stdout); }
  }
  if (strcmp(action, "kill") == 0) raise(SIGKILL);
  if (strcmp(action, "segv") == 0) *(volatile int*)0 = 1;
  if (strcmp(action, "wait") == 0) for (;;) pause();
  if (strcmp(action, "echo") == 0) { int c; while ((c = getchar()) != EOF) putchar(c); }
  if (strcmp(action, "_exit") == 0) _exit(9);
  return strcmp(action, "fail") == 0 ? 7 : 0;
}
"""


@pytest.fixture(scope="module")
def steps(tmp_path_factory):
    return build(tmp_path_factory.mktemp("steps"), STEPS_C, "steps")


@pytest.fixture(scope="module")
def tool_program():
    return str(TOOL)


def test_a_run_leaves_a_report_and_its_events(tool, steps, tmp_path):
    out = tmp_path / "out"
    result = tool("run", "-o", str(out), "--", steps, "12")
    assert str(out / "report.html") in result.stderr.splitlines()[-1]
    assert "half way" in result.stdout
    assert (out / "report.html").stat().st_size > 0
    report = report_of(out)
    assert report["run"]["command"] == [steps, "12"]
    assert report["run"]["exitCode"] == 0
    assert report["summary"]["stepsUsed"] + report["summary"]["stepsDiscarded"] == 12
    assert 3e6 <= report["summary"]["stepTimeNs"]["median"] < 30e6
    breakdown = report["ranks"][0]["breakdown"]
    assert sum(part["fraction"] for part in breakdown) == pytest.approx(1, abs=1e-6)
    names = [event["name"] for event in events_of(tool, out) if event["kind"] == "range"]
    assert names.count("step") == 12 and names.count("forward") == 12


def test_run_json_follows_its_schema(tool, steps, tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    out = tmp_path / "out"
    tool("run", "-o", str(out), "-q", "--", steps, "3")
    schema = json.loads((SOURCE / "reports/run.schema.json").read_text())
    jsonschema.validate(json.loads((out / "trace/run.json").read_text()), schema)


@pytest.mark.parametrize("action, code", [("", 0), ("fail", 7), ("_exit", 9), ("close", 0),
                                          ("kill", 128 + 9), ("segv", 128 + 11)])
def test_the_exit_code_is_the_programs(tool, steps, tmp_path, action, code):
    out = tmp_path / "out"
    tool("run", "-o", str(out), "--", steps, "6", action, check=code)
    assert report_of(out)["run"]["exitCode"] == code
    ranges = [e for e in events_of(tool, out) if e["kind"] == "range" and e["name"] == "step"]
    assert len(ranges) == 6
    if action in ("kill", "segv"):
        assert report_of(out)["trust"]["cutShort"] is True


def test_standard_input_and_output_are_the_programs(tool, steps, tmp_path):
    out = tmp_path / "out"
    text = "one\ntwo\n"
    plain = subprocess.run([steps, "6", "echo"], input=text, capture_output=True, text=True)
    recorded = tool("run", "-o", str(out), "-q", "--", steps, "6", "echo", stdin=text)
    assert recorded.stdout == plain.stdout
    assert recorded.stderr == plain.stderr == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_in_a_report(tool_program, steps, tmp_path, number):
    out = tmp_path / "out"
    process = subprocess.Popen([tool_program, "run", "-o", str(out), "--", steps, "8", "wait"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "half way\n"
    time.sleep(0.1)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 128 + number
    report = report_of(out)
    assert report["run"]["interrupted"] is True
    assert report["summary"]["stepsUsed"] + report["summary"]["stepsDiscarded"] == 8


def test_a_missing_command_leaves_nothing(tool, tmp_path):
    out = tmp_path / "out"
    result = tool("run", "-o", str(out), "--", "no-such-program-here", check=2)
    assert "no-such-program-here" in result.stderr
    assert not out.exists()
    not_executable = tmp_path / "data.txt"
    not_executable.write_text("text")
    tool("run", "-o", str(out), "--", str(not_executable), check=2)
    assert not out.exists()


def test_an_output_that_cannot_be_written_is_refused_before_running(tool, steps, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    marker = tmp_path / "ran"
    result = tool("run", "-o", str(blocked / "out"), "--", "touch", str(marker), check=2)
    assert "cannot create" in result.stderr
    assert not marker.exists()


def test_files_of_others_are_never_overwritten(tool, steps, tmp_path):
    (tmp_path / "report.html").write_text("<p>my thesis</p>")
    result = tool("run", "-o", str(tmp_path), "--", steps, "3", check=2)
    assert "report.html" in result.stderr
    tool("run", "--force", "-o", str(tmp_path), "--", steps, "3", check=2)
    assert (tmp_path / "report.html").read_text() == "<p>my thesis</p>"


def test_an_earlier_run_is_kept_and_force_replaces_it(tool, steps, tmp_path):
    out = tmp_path / "out"
    tool("run", "-o", str(out), "--", steps, "3")
    first = report_of(out)["run"]["id"]
    tool("run", "-o", str(out), "--", steps, "4")
    second = report_of(out)["run"]["id"]
    assert first != second
    earlier = out / "earlier" / first
    assert report_of(earlier)["run"]["id"] == first
    assert (earlier / "trace/run.json").exists()
    tool("run", "--force", "-o", str(out), "--", steps, "5")
    assert [path.name for path in (out / "earlier").iterdir()] == [first]


def test_a_second_nvtx_tool_keeps_working(tool, steps, tmp_path):
    theirs = tmp_path / "their_tool.so"
    marker = tmp_path / "their_tool_was_loaded"
    source = tmp_path / "their_tool.c"
    source.write_text("#include <fcntl.h>\nint InitializeInjectionNvtx2(void* table) "
                      f"{{ (void)table; open(\"{marker}\", O_CREAT | O_WRONLY, 0600); return 1; }}\n")
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(theirs)], check=True)
    out = tmp_path / "out"
    result = tool("run", "-o", str(out), "--", steps, "4",
                  env={"NVTX_INJECTION64_PATH": str(theirs)})
    assert marker.exists()
    assert "NVTX ranges are not recorded" in result.stderr
    assert any("NVTX_INJECTION64_PATH" in warning for warning in report_of(out)["warnings"])


def test_the_users_preload_is_kept(tool, tmp_path):
    preload = tmp_path / "preload.so"
    source = tmp_path / "preload.c"
    source.write_text("int their_preload = 1;\n")
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(preload)], check=True)
    result = tool("run", "-o", str(tmp_path / "out"), "-q", "--", "sh", "-c", "echo $LD_PRELOAD",
                  env={"LD_PRELOAD": str(preload)})
    assert result.stdout.startswith(str(preload))


def test_a_damaged_run_json_is_an_error_with_its_position(tool, steps, tmp_path):
    out = tmp_path / "out"
    tool("run", "-o", str(out), "-q", "--", steps, "3")
    manifest = out / "trace/run.json"
    text = manifest.read_text()
    manifest.write_text(text[: len(text) // 2])
    result = tool("report", str(out), check=2)
    assert "run.json:" in result.stderr
    manifest.write_text(text.replace('"complete"', "17"))
    result = tool("report", str(out), check=2)
    assert "run.json:4:" in result.stderr and "state" in result.stderr


def rank_environment(rank, world=2):
    return {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(world),
            "MASTER_ADDR": "localhost", "MASTER_PORT": "29999"}


def test_a_launcher_below_gives_one_rank_each(tool, steps, tmp_path):
    """stallscope run -- torchrun ...: the ranks are the program's children."""
    launcher = tmp_path / "launch.sh"
    launcher.write_text("#!/bin/sh\nexport WORLD_SIZE=2\n"
                        f"RANK=0 LOCAL_RANK=0 {steps} 6 & RANK=1 LOCAL_RANK=1 {steps} 7 & wait\n")
    launcher.chmod(0o755)
    out = tmp_path / "out"
    tool("run", "-o", str(out), "--", str(launcher))
    report = report_of(out)
    assert [rank["rank"] for rank in report["ranks"]] == [0, 1]
    assert {event["rank"] for event in events_of(tool, out)} == {0, 1}
    assert report["errors"] == []


def test_a_recorder_per_rank_merges_at_the_last(tool, tool_program, steps, tmp_path):
    """mpirun stallscope run -- ...: every rank has a recorder of its own."""
    out = tmp_path / "out"
    processes = [
        subprocess.Popen([tool_program, "run", "-o", str(out), "--", steps, "6"],
                         env={**os.environ, **rank_environment(rank)},
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for rank in (0, 1)]
    messages = [process.communicate(timeout=60)[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], messages
    assert sum("report.html" in message for message in messages) == 1
    assert [rank["rank"] for rank in report_of(out)["ranks"]] == [0, 1]
    assert len({event["rank"] for event in events_of(tool, out)}) == 2


def test_a_missing_rank_is_named(tool, steps, tmp_path):
    out = tmp_path / "out"
    result = tool("run", "-o", str(out), "--", steps, "6", env=rank_environment(1))
    assert not (out / "report.json").exists()
    assert "last rank" in result.stderr
    result = tool("report", str(out))
    assert result.stdout.count("warning: rank 0 of 2 is missing") == 1 and "is missing" not in result.stderr
    report = report_of(out)
    assert [error["code"] for error in report["errors"]] == ["rank-missing"]


def test_a_killed_recorder_leaves_what_was_recorded(tool, tool_program, steps, tmp_path):
    out = tmp_path / "out"
    process = subprocess.Popen([tool_program, "run", "-o", str(out), "--", steps, "8", "wait"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout.readline() == "half way\n"
    time.sleep(0.1)
    children = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True)
    process.kill()
    process.wait()
    for child in children.stdout.split():
        os.kill(int(child), signal.SIGKILL)
    result = tool("report", str(out))
    report = report_of(out)
    assert report["trust"]["cutShort"] is True
    assert report["summary"]["stepsUsed"] + report["summary"]["stepsDiscarded"] == 8, result.stderr


@pytest.mark.parametrize("arguments, says", [
    ([], "Usage"),
    (["reprot"], "did you mean 'report'"),
    (["report", "--ouput", "x"], "did you mean '--output'"),
    (["rules", "tst"], "did you mean 'test'"),
    (["rules", "new", "x-y", "--dirr", "d"], "did you mean '--dir'"),
    (["rules", "new"], "see `stallscope rules new --help`"),
    (["run", "python", "train.py", "--lr", "1"], "put -- before the command"),
    (["run"], "no command"),
    (["report", "/no/such/trace"], "no such file"),
    (["report", "/dev/null"], "neither a file nor a folder"),
])
def test_misuse_is_explained(tool, arguments, says):
    assert says in tool(*arguments, check=2).stderr


def test_help_man_and_completions_name_every_command(tool):
    help_text = tool("--help").stdout
    man, bash, fish = (tool(*args).stdout for args in
                       (["man"], ["completions", "bash"], ["completions", "fish"]))
    for command in ("run", "report", "dump"):
        assert command in help_text and command in man and command in bash and command in fish
        assert "Examples:" in tool(command, "--help").stdout
    subprocess.run(["bash", "-n"], input=bash, text=True, check=True)
    assert tool("help", "run").stdout == tool("run", "--help").stdout


def test_the_cost_of_recording_is_reported(tool, steps, tmp_path):
    out = tmp_path / "out"
    tool("run", "-o", str(out), "--measure-overhead", "3", "--", steps, "4")
    trust = report_of(out)["trust"]
    assert trust["recorderOwnFraction"] is not None
    overhead = trust["measuredOverhead"]
    assert overhead["low"] <= overhead["difference"] <= overhead["high"]


def test_settings_that_the_report_could_not_use_are_refused_before_the_program_runs(tool, tmp_path):
    (tmp_path / "stallscope.yml").write_text("ignore: [no-such-rule]\n")
    refused = tool("run", "--", "touch", "ran", cwd=tmp_path, check=2)
    assert "no-such-rule" in refused.stderr and not (tmp_path / "ran").exists()
    tool("run", "--no-report", "--", "touch", "ran", cwd=tmp_path)
    assert (tmp_path / "ran").exists()
