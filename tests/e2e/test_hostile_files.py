"""Files that are not what they say, or far larger than they seem: a named error or a stated repair, soon."""
import gzip
import json
import os
import sqlite3
import time
import zlib

KERNEL = '{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%d,"dur":1,"args":{"device":0,"stream":7}}'


def refused(tool, path, *words, args=()):
    done = tool("report", path, "-q", "-o", path.parent / "out", *args, check=2)
    for word in (path.name, *words):
        assert word in done.stderr, done.stderr
    assert not (path.parent / "out").exists()


def test_what_is_no_trace(tool, tmp_path):
    empty = tmp_path / "empty.json"
    empty.touch()
    refused(tool, empty, "empty")
    (tmp_path / "folder").mkdir()
    refused(tool, tmp_path / "folder", "holds neither")
    refused(tool, tmp_path / "absent.json", "no such file")
    for name, content in (("text.json", b"hello"), ("list.json", b"[1, 2, 3]"), ("noise.sqlite", os.urandom(5000)),
                          ("object.json", b'{"a": 1}'), ("none.json", b'{"traceEvents": []}'),
                          ("half.json.gz", gzip.compress(b"{}")[:12])):
        path = tmp_path / name
        path.write_bytes(content)
        refused(tool, path)
    os.mkfifo(tmp_path / "pipe.json")
    refused(tool, tmp_path / "pipe.json")


def test_files_of_20_gb_that_hold_nothing(tool, tmp_path):
    started = time.monotonic()
    for name, head in (("zeros.json", b""), ("zeros.sqlite", b"SQLite format 3\x00"), ("zeros.json.gz", b"\x1f\x8b\x08")):
        path = tmp_path / name
        with open(path, "wb") as out:
            out.write(head)
            out.truncate(20 << 30)
        refused(tool, path)
    # What stands before the hole is kept, and the rest is not read to its end.
    path = tmp_path / "tail.json"
    with open(path, "wb") as out:
        out.write(('{"traceEvents": [' + KERNEL % 1 + "," + KERNEL % 5 + ",").encode())
        out.truncate(20 << 30)
    tool("report", path, "-q", "-o", tmp_path / "tail")
    report = tool.report(tmp_path / "tail")
    assert report["trust"]["cutShort"] and report["ranks"][0]["gpu"]["kernels"] == 2
    assert time.monotonic() - started < 60


def test_a_zip_bomb_is_refused_until_a_flag_lets_it_in(tool, tmp_path):
    path = tmp_path / "bomb.json.gz"
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    with open(path, "wb") as out:
        out.write(packer.compress(('{"traceEvents": [' + KERNEL % 1 + ",").encode()))
        for _ in range(40):
            out.write(packer.compress(b" " * (1 << 22)))
        out.write(packer.compress((KERNEL % 9 + "]}").encode()) + packer.flush())
    refused(tool, path, "decompression bomb", "--max-inflated", args=("--max-inflated", "100MB"))
    tool("report", path, "-q", "-o", tmp_path / "wanted", "--max-inflated", "1GB")
    assert tool.report(tmp_path / "wanted")["ranks"][0]["gpu"]["kernels"] == 2


def test_a_database_that_would_run_code_or_never_end(tool, tmp_path):
    path = tmp_path / "run.sqlite"
    database = sqlite3.connect(path)
    database.executescript("""
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        INSERT INTO StringIds VALUES (1, 'gemm');
        CREATE TABLE rows (start, end, deviceId, streamId, correlationId, globalPid, demangledName);
        INSERT INTO rows VALUES (1, 5, 0, 7, 3, 0, 1);
        CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS
          WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL SELECT start + 1 FROM n)
          SELECT start, start + 1 AS end, 0 AS deviceId, 7 AS streamId, start AS correlationId, 0 AS globalPid,
                 1 AS demangledName FROM n;
        CREATE TRIGGER harm AFTER INSERT ON StringIds BEGIN DELETE FROM rows; END;
        CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, streamId, correlationId, globalPid, bytes, copyKind);
        INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 9, 0, 7, 3, 0, 64, 1), (20, 10, 0, 7, 3, 0, NULL, 'x'),
          (NULL, 5, 0, 7, 4, 0, 1, 1), ('soon', 5, 0, 7, 4, 0, 1, 1), (30, 40, x'00', 7, 5, 0, 1, 1);
        """)
    database.close()
    before = path.read_bytes()
    tool("report", path, "-q", "-o", tmp_path / "out", timeout=30)
    assert path.read_bytes() == before
    report = tool.report(tmp_path / "out")
    assert report["ranks"][0]["gpu"]["kernels"] == 0  # a view is no table of the exporter's
    repairs = report["trust"]["repairs"]
    assert repairs["negative duration read as 0"] == 1
    assert repairs["row without a readable time skipped"] == 2


def test_times_and_ids_that_contradict_each_other(tool, tmp_path):
    def event(**members):
        return {"pid": 1, "tid": 1, "ts": 10, "dur": 5, "ph": "X", "cat": "cpu_op", "name": "op", **members}

    kernel = {"pid": 0, "tid": 7, "cat": "kernel", "name": "k"}
    events = [event(), event(dur=-3), event(ts=4), event(ts="never"), event(ph="B", dur=None), event(ph="E", ts=3, tid=2),
              event(cat="cuda_runtime", name="cudaLaunchKernel", ts=1, args={"correlation": 7}),
              event(cat="cuda_runtime", name="cudaLaunchKernel", ts=50, args={"correlation": 7}),
              event(**kernel, ts=8, args={"correlation": 7}), event(**kernel, ts=60, args={"correlation": 7}),
              event(**kernel, ts=70, args={"correlation": 10**25})]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    tool("report", path, "-q", "-o", tmp_path / "out")
    repairs = tool.report(tmp_path / "out")["trust"]["repairs"]
    for what in ("negative duration read as 0", "event without a readable time skipped", "end without a begin skipped",
                 "begin without an end closed at the last time seen",
                 "correlation id used by several calls: the nearest earlier call is taken"):
        assert repairs.get(what) == 1, (what, repairs)


def test_a_trace_that_was_cut_says_so_before_it_blames_the_profiler(tool, tmp_path):
    host = '{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":%d,"dur":1},'
    text = '{"traceEvents": [' + "".join(host % at for at in range(50)) + KERNEL % 60 + "]}"
    path = tmp_path / "trace.json"
    path.write_text(text[:len(text) // 2])
    shown = tool("report", path, "-o", tmp_path / "out").stdout
    assert "file is cut" in shown and "recorded the host only" not in shown
    assert any("file is cut" in warning for warning in tool.report(tmp_path / "out")["warnings"])
