"""`stallscope export` and `stallscope open`, on a trace written as event lines."""
import csv
import json
import re
import signal
import sqlite3
import struct
import subprocess
import urllib.error
import urllib.request

import pytest

from conftest import TOOL

EVENTS = """
{"kind":"process","pid":77,"rank":0,"worldSize":1,"name":"train"}
{"repeat":12,"everyNs":1000000}
{"kind":"range","name":"step {i}","startNs":1000,"durationNs":900000,"pid":77}
{"kind":"api","name":"cudaLaunchKernel","startNs":2000,"durationNs":4000,"correlation":1,"pid":77,"stack":["train.py:14 train"]}
{"kind":"kernel","name":"gemm<float>","startNs":9000,"durationNs":500001,"correlation":1,"pid":77}
{"kind":"api","name":"cudaStreamSynchronize","startNs":70000,"durationNs":450000,"pid":77}
{"end":true}
"""


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "run.events"
    path.write_text(EVENTS)
    return path


def fields(data):
    """The fields of one protobuf message as (number, value), by the published wire format."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 1:
            yield key >> 3, struct.unpack_from("<Q", data, at)[0]
            at += 8
        else:
            assert key & 7 == 2, f"wire type {key & 7}"
            size = varint()
            yield key >> 3, data[at:at + size]
            at += size
            assert at <= len(data)


def first(message, number):
    return next((value for key, value in fields(message) if key == number), None)


def test_perfetto_decodes_to_the_same_events(tool, trace, tmp_path):
    out = tmp_path / "t.perfetto-trace"
    tool("export", trace, "--to", "perfetto", "-o", out)
    packets = [value for key, value in fields(out.read_bytes()) if key == 1]
    names, open_slices, slices, starts, ends, counters = {}, {}, [], [], [], 0
    threads = []
    for packet in packets:
        if (interned := first(packet, 12)) is not None:
            for key, entry in fields(interned):
                if key == 2:
                    names[first(entry, 1)] = first(entry, 2).decode()
        if (descriptor := first(packet, 60)) is not None and (thread := first(descriptor, 4)) is not None:
            threads.append((first(thread, 1), first(thread, 2)))
        if (event := first(packet, 11)) is None:
            continue
        kind, track, at = first(event, 9), first(event, 11), first(packet, 8)
        if kind == 1:
            open_slices.setdefault(track, []).append((names[first(event, 10)], at))
            starts += [value for key, value in fields(event) if key == 47]
            ends += [value for key, value in fields(event) if key == 48]
        elif kind == 2:
            name, began = open_slices[track].pop()
            slices.append((name, began, at - began))
        elif kind == 4:
            counters += 1
    assert all(not rest for rest in open_slices.values()), "a slice was begun and not ended"
    assert (77, 77) in threads
    dumped = [json.loads(line) for line in tool("dump", trace).stdout.splitlines()]
    expected = sorted((e["name"], e["startNs"], e["durationNs"]) for e in dumped)
    assert sorted(slices) == expected and len(slices) == 48
    assert len(starts) == 12 and sorted(starts) == sorted(ends)
    assert counters >= 24


def test_perfetto_follows_the_published_descriptors(tool, trace, tmp_path):
    from google.protobuf import unknown_fields
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
    out = tmp_path / "t.perfetto-trace"
    tool("export", trace, "--to", "perfetto", "-o", out)
    decoded = Trace()
    decoded.ParseFromString(out.read_bytes())
    events = [packet.track_event for packet in decoded.packet if packet.HasField("track_event")]
    kinds = [TrackEvent.Type.Name(event.type) for event in events]
    assert kinds.count("TYPE_SLICE_BEGIN") == kinds.count("TYPE_SLICE_END") == 48
    assert kinds.count("TYPE_COUNTER") >= 24
    findings = [event.name for event in events if "finding" in event.categories]
    assert findings and all(findings)
    described = {packet.track_descriptor.uuid for packet in decoded.packet if packet.HasField("track_descriptor")}
    assert {event.track_uuid for event in events} <= described
    for message in [*decoded.packet, *events]:
        assert len(unknown_fields.UnknownFieldSet(message)) == 0


def test_chrome_reimports_equal(tool, trace, tmp_path):
    out = tmp_path / "t.json"
    tool("export", trace, "--to", "chrome", "-o", out)
    found = [e["name"] for e in json.loads(out.read_text())["traceEvents"] if e.get("cat") == "finding"]
    assert found, "the analysis finds the synchronisation of every step"
    tool("export", trace, "--to", "chrome", "-o", out, "--no-findings", "--force")

    def content(path):
        rows = [json.loads(line) for line in tool("dump", path).stdout.splitlines()]
        return sorted((e["kind"], e["name"], e["startNs"], e["durationNs"], e.get("correlation")) for e in rows)

    before, after = content(trace), content(out)
    base = min(row[2] for row in before) - min(row[2] for row in after)
    assert before == [(kind, name, start + base, duration, correlation) for kind, name, start, duration, correlation in after]


def test_csv_and_sqlite_hold_every_event(tool, trace, tmp_path):
    tool("export", trace, "--to", "csv", "-o", tmp_path / "t.csv")
    rows = list(csv.DictReader((tmp_path / "t.csv").open(newline="")))
    assert len(rows) == 48 and sum(int(row["durationNs"]) for row in rows if row["kind"] == "kernel") == 12 * 500001
    tool("export", trace, "--to", "sqlite", "-o", tmp_path / "t.sqlite")
    database = sqlite3.connect(tmp_path / "t.sqlite")
    assert database.execute("SELECT count(*), sum(duration_ns) FROM event WHERE kind = 'kernel'").fetchone() == (12, 12 * 500001)
    assert database.execute("SELECT DISTINCT function, file, line FROM frame").fetchall() == [("train", "train.py", 14)]
    assert database.execute("SELECT DISTINCT rank, pid FROM event_with_place").fetchall() == [(0, 77)]
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_refuses_to_overwrite(tool, trace, tmp_path):
    out = tmp_path / "t.csv"
    out.write_text("mine")
    done = tool("export", trace, "--to", "csv", "-o", out, check=2)
    assert "--force" in done.stderr and out.read_text() == "mine"
    tool("export", trace, "--to", "csv", "-o", out, "--force")
    assert out.read_text().startswith("kind,")


def test_open_serves_the_report_to_this_machine_only(tool, trace, tmp_path):
    tool("report", trace, "-o", tmp_path / "out")
    server = subprocess.Popen([str(TOOL), "open", str(tmp_path / "out"), "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        url = re.search(r"http://127\.0\.0\.1:(\d+)/", server.stdout.readline())[0]
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        page = opener.open(url).read()
        assert page == (tmp_path / "out/report.html").read_bytes()
        answer = opener.open(url + "report.json")
        assert answer.headers["Access-Control-Allow-Origin"] == "https://ui.perfetto.dev"
        assert json.loads(answer.read())["schemaVersion"] == "1.0"
        for path, host, code in [("etc/passwd", None, 404), ("../report.json", None, 404), ("", "evil.example", 403)]:
            request = urllib.request.Request(url + path, headers={"Host": host} if host else {})
            with pytest.raises(urllib.error.HTTPError) as refused:
                opener.open(request)
            assert refused.value.code == code
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(10) == 0


def test_open_without_a_report(tool, tmp_path):
    assert "report.html" in tool("open", tmp_path, check=2).stderr
