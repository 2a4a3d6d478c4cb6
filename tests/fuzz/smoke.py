"""Runs one fuzzer for some seconds over seeds made here and, for a long run, over files of yours.

usage: smoke.py FUZZER SOURCE_DIR [SECONDS [FILE...]]    the first 4,000 bytes of each FILE, inflated
"""
import gzip
import json
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

fuzzer, source = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
seconds = sys.argv[3] if len(sys.argv) > 3 else "4"


def kineto_seeds(folder):
    """A handful of events of every kind; and the first ones of each real trace."""
    event = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1.5, "dur": 2,
             "args": {"correlation": 1, "device": 0, "stream": 7, "grid": [1, 1, 1]}}
    events = [{**event, "cat": cat, "name": name, "args": {**event["args"], "Collective name": "allreduce",
                                                          "In msg nelems": 4, "dtype": "Float"}}
              for cat, name in (("kernel", "nccl"), ("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)"),
                                ("cuda_runtime", "cudaLaunchKernel"), ("cpu_op", "aten::item"),
                                ("python_function", "a.py(1): f"), ("cuda_sync", "Stream Wait Event"))]
    # A forward operator, and the backward one that belongs to it.
    events += [{**event, "cat": "cpu_op", "name": name, "tid": tid, "ts": ts,
                "args": {"Sequence number": 5, "Fwd thread id": thread}}
               for name, tid, ts, thread in (("aten::mul", 7, 1.6, 0), ("MulBackward0", 8, 9, 1))]
    events += [{"ph": phase, "cat": "ac2g", "id": 1, "pid": 0, "tid": 7, "ts": 1.5, "name": "x"} for phase in "sfBEiCMbe"]
    plain = json.dumps({"schemaVersion": 1, "distributedInfo": {"rank": 0}, "traceEvents": events})
    (folder / "object").write_text(plain)
    (folder / "array").write_text(json.dumps(events))
    (folder / "gzip").write_bytes(gzip.compress(plain.encode()))
    for number, fault in enumerate(("NaN", "99999999999999999999999", '"a"b"', '"\\ud800"', '"\\x"')):
        (folder / f"fault{number}").write_text(plain.replace('"aten::item"', fault))
    (folder / "tail").write_text(plain[:-40])


def source_seeds(folder):
    """The cases of all rules, each behind the byte that chooses its language; and projects of four rules each."""
    first = {".py": b"\0", ".cpp": b"\2", ".cu": b"\3"}
    cases = sorted(case for case in (source / "rules/cases").glob("*/*") if case.suffix in first)
    for case in cases:
        (folder / f"{case.parent.name}-{case.name}").write_bytes(first[case.suffix] + case.read_bytes())
    # Form feeds part its files: a.py, b.py, pkg/__init__.py, pkg/c.py, or a.cu and its like.
    takes = {".py": (b"from b import *\nfrom pkg import *\n", b"", b"from .c import *\n", b"import a\nfrom b import *\n"),
             ".cpp": (b'#include "a.h"\n',) * 4, ".cu": (b'#include "a.h"\n',) * 4}
    for suffix, imports in takes.items():
        fires = [case for case in cases if case.suffix == suffix and case.stem.startswith("fires")]
        for at in range(0, len(fires), 4):
            files = [line + case.read_bytes() for line, case in zip(imports, fires[at:at + 4])]
            (folder / f"project{at}{suffix}").write_bytes(first[suffix] + b"\f".join(files))
    cell = {"cells": [{"cell_type": "code", "source": ["import torch\n", "x.item()\n"]}]}
    (folder / "notebook").write_bytes(b"\1" + json.dumps(cell).encode())


def nsys_seeds(folder):
    """A small export with the usual tables, and one that has none of them."""
    for name, script in (("full", """
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        INSERT INTO StringIds VALUES (1,'k'),(2,'cudaLaunchKernel');
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start,end,deviceId,streamId,correlationId,globalPid,demangledName);
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,0,7,3,281476838981632,1);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start,end,globalTid,correlationId,nameId);
        INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0,1,281476838981639,3,2);
        CREATE TABLE NVTX_EVENTS (start,end,eventType,text,globalTid,jsonText);
        INSERT INTO NVTX_EVENTS VALUES (0,NULL,59,'x, op_id = 1',281476838981639,'{"Rank": 0}');
        """), ("other", "CREATE TABLE t (a);")):
        database = sqlite3.connect(folder / name)
        database.execute("PRAGMA page_size = 512")
        database.executescript(script)
        database.close()


def manifest_seeds(folder):
    """A whole run.json, as the recorder writes it when a run ends and when it begins."""
    manifest = {"schemaVersion": "1.0", "id": "20260101-120000-abcdef", "state": "complete",
                "command": ["./train", "--steps", "5"], "workingDirectory": "/home/user",
                "startedAt": "2026-01-01T12:00:00Z", "durationNs": 1, "exitCode": 0, "signal": None,
                "interrupted": False, "recordingFolder": "", "identity": {"rank": 0, "localRank": 0,
                "worldSize": 2, "launcher": "torchrun"}, "sampleRateHz": 200,
                "overhead": {"difference": 0.01, "low": 0, "high": 0.02, "pairs": 6},
                "environment": {"cpu.model": "x"}, "warnings": ["one"]}
    (folder / "complete").write_text(json.dumps(manifest))
    (folder / "begun").write_text(json.dumps({**manifest, "state": "recording", "durationNs": None,
                                              "exitCode": None, "overhead": None}))


def settings_seeds(folder):
    """One of each file that holds settings, behind the byte that chooses its reader."""
    for number, text in enumerate((
            "extends: other.yml\nrules: [my-rules]\nfail-on: high\nseverities: {item-in-step: low}\n",
            "per-path:\n  'tests/**': {ignore: [item-in-step]}\ncheck: {step-time: '<= 120 ms', repeats: 3}\n",
    )):
        (folder / f"project{number}").write_bytes(b"\0" + text.encode())
    (folder / "pyproject").write_bytes(
        b'\1[tool.stallscope]\nignore = ["no-compile"]\nfail-on = "high"\n[tool.stallscope.severities]\nx = "low"\n')
    (folder / "baseline").write_bytes(
        b'\2{"schemaVersion": "1.0", "findings": [{"fingerprint": "a", "count": 2}]}')
    (folder / "json").write_bytes(b'\3{"zero_optimization": {"overlap_comm": false}, // note\n "a": [1, "b"],}')
    (folder / "yaml").write_bytes(b"\4env:\n  - name: NCCL_DEBUG\n    value: TRACE\nrun: |\n  python train.py --a 1\n")
    (folder / "shell").write_bytes(b"\5export CUDA_LAUNCH_BLOCKING=1\npython train.py --num-workers 0 \\\n --flag\n")


with tempfile.TemporaryDirectory() as temporary:
    corpus = pathlib.Path(temporary) / "corpus"
    corpus.mkdir()
    seeds = {"fuzz_kineto": kineto_seeds, "fuzz_nsys": nsys_seeds, "fuzz_source": source_seeds,
             "fuzz_manifest": manifest_seeds, "fuzz_settings": settings_seeds}
    if fuzzer.name in seeds:  # others build their own structure around any bytes
        seeds[fuzzer.name](corpus)
    else:
        (corpus / "bytes").write_bytes(bytes(range(256)) * 8)
    # What a fuzzer once found is tried first for ever.
    for path in (source / "tests/fuzz/regressions").glob(fuzzer.name.removeprefix("fuzz_") + "-*"):
        (corpus / path.name).write_bytes(path.read_bytes())
    for number, path in enumerate(map(pathlib.Path, sys.argv[4:])):
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
            (corpus / f"given{number}").write_bytes(file.read(4000))
    # The seeds alone first: a reader that refuses its own seeds would be fuzzed for nothing.
    tried = subprocess.run([str(fuzzer), "-runs=0", str(corpus)], stderr=subprocess.PIPE, text=True)
    tally = re.search(r"tally: (\d+) of", tried.stderr)
    if tried.returncode != 0 or (tally and int(tally[1]) == 0):
        sys.exit(f"{tried.stderr}smoke.py: no seed of {fuzzer.name} can be read")
    done = subprocess.run([str(fuzzer), f"-max_total_time={seconds}", "-rss_limit_mb=2048", "-timeout=60",
                           "-keep_seed=1", "-max_len=20000", f"-artifact_prefix={pathlib.Path.cwd()}/", str(corpus)])
    sys.exit(done.returncode)
