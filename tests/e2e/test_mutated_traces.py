"""Traces with what real files lack or mangle: every one gets a report or a named error, never a crash."""
import gzip
import json
import os
import random
import sqlite3

import pytest

from conftest import SHARED_TRACES
from kineto_steps import write_trace

MUTANTS = int(os.environ.get("STALLSCOPE_MUTANTS", "24"))


def base_events(tmp_path, rng):
    """Events of a small made-up run, or of a real trace when there is one."""
    real = sorted(SHARED_TRACES.glob("*.json.gz"))
    if real and rng.random() < 0.5:
        path = rng.choice([path for path in real if path.stat().st_size < 200_000])
    else:
        path = write_trace(tmp_path / "base.json.gz", steps=rng.randint(1, 8), seed=rng.random(),
                           sync=rng.random() < 0.5, arrives=rng.choice([None, 0.5]))
    with gzip.open(path, "rt", errors="replace") as source:
        return json.load(source, strict=False)


def mutate(trace, rng):
    """Drops, repeats, moves and mangles events, each in a share of its own."""
    events = trace["traceEvents"]
    categories = sorted({str(event.get("cat")) for event in events})
    dropped = {cat for cat in categories if rng.random() < 0.15}
    share = {what: rng.choice([0, 0, 0.02, 0.3]) for what in
             ("drop", "twice", "earlier", "negative", "no-dur", "correlation", "stream", "text", "long", "split")}
    out = []
    for event in events:
        if str(event.get("cat")) in dropped or rng.random() < share["drop"]:
            continue
        event = dict(event)
        args = event["args"] = dict(event["args"]) if isinstance(event.get("args"), dict) else {}
        if rng.random() < share["earlier"] and isinstance(event.get("ts"), (int, float)):
            event["ts"] -= rng.choice([0.001, 50, 1e5, 1e9])
        if rng.random() < share["negative"] and "dur" in event:
            event["dur"] = -rng.random() * 100
        if rng.random() < share["no-dur"]:
            event.pop("dur", None)
        if rng.random() < share["correlation"]:
            args["correlation"] = rng.choice([0, -1, 1, 2, 2**32 - 1, 2**40, "7", None])
        if rng.random() < share["stream"]:
            args["stream"] = rng.choice([-1, 0, 7, 2**32 - 1, "stream 7", None])
            args["device"] = rng.choice([-1, 0, 1, 5000, None])
        if rng.random() < share["text"]:
            event[rng.choice(["name", "pid", "tid", "cat", "ts", "ph"])] = rng.choice(["", None, "x" * 300, [], {}, -5, "ProfilerStep#2"])
        if rng.random() < share["long"] and "dur" in event:
            event["dur"] = rng.choice([1e5, 1e9, 1e12])
        if rng.random() < share["split"] and event.get("ph") == "X" and isinstance(event.get("ts"), (int, float)):
            out.append({**event, "ph": "B"})
            event["ph"] = "E"
            event["ts"] += 5
        out += [event, event] if rng.random() < share["twice"] else [event]
    if rng.random() < 0.2:
        rng.shuffle(out)
    return {**trace, "traceEvents": out}


@pytest.mark.parametrize("seed", range(MUTANTS))
def test_mutated_kineto_trace(tool, tmp_path, seed):
    rng = random.Random(seed)
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(mutate(base_events(tmp_path, rng), rng)))
    done = tool("report", path, "-q", "-o", tmp_path / "out", "--source", "off", check=None)
    assert done.returncode in (0, 2), done.stderr[-500:]
    if done.returncode == 2:
        assert "trace.json" in done.stderr
        return
    for rank in tool.report(tmp_path / "out")["ranks"]:
        gpu = rank["gpu"]
        if gpu:
            assert 0 <= gpu["computeNs"] <= gpu["busyNs"] <= gpu["windowNs"]
            assert gpu["busyNs"] <= gpu["computeNs"] + gpu["communicationNs"] + gpu["copyNs"]
        fractions = [row["fraction"] for row in rank["breakdown"] if row["durationNs"]]
        assert not fractions or abs(sum(fractions) - 1) < 1e-6


@pytest.mark.parametrize("seed", range(MUTANTS // 4))
def test_mutated_nsys_export(tool, tmp_path, seed):
    source = SHARED_TRACES / "nsys_2gpu_h100.sqlite"
    if not source.exists():
        pytest.skip("the shared traces are not beside the project")
    rng = random.Random(seed)
    path = tmp_path / "run.sqlite"
    path.write_bytes(source.read_bytes())
    database = sqlite3.connect(path)
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        database.execute(f"CREATE TEMP TABLE copy AS SELECT * FROM {table}")
        database.execute(f"DROP TABLE {table}")
        if rng.random() < 0.1:
            database.execute("DROP TABLE copy")
            continue
        database.execute(f"CREATE TABLE {table} AS SELECT * FROM copy")  # without its constraints
        database.execute("DROP TABLE copy")
        for column in [row[1] for row in database.execute(f"PRAGMA table_info({table})")]:
            if rng.random() < 0.1:
                value = rng.choice(["NULL", "-1", "'text'", "x'00ff'", "1e300", "9223372036854775807", f'-"{column}"'])
                database.execute(f'UPDATE {table} SET "{column}" = {value} WHERE abs(random()) % {rng.choice([1, 3, 50])} = 0')
    database.commit()
    database.close()
    done = tool("report", path, "-q", "-o", tmp_path / "out", "--source", "off", check=None)
    assert done.returncode in (0, 2), done.stderr[-500:]
    assert done.returncode == 0 or "run.sqlite" in done.stderr
