"""Repeats the rows of a real nsys SQLite export, later each time, until it has enough.

usage: repeat_nsys.py OUTPUT [--rows N] [--input EXPORT.sqlite]

Times and correlation ids are moved, so that every copy stands for itself.
"""
import argparse
import shutil
import sqlite3

from real_traces import real_trace

TIMED = ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET",
         "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "NVTX_EVENTS")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("output")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--input")
    options = parser.parse_args()
    options.input = options.input or real_trace("nsys_2gpu_h100.sqlite")
    shutil.copyfile(options.input, options.output)
    database = sqlite3.connect(options.output)
    database.execute("PRAGMA synchronous = OFF")
    database.execute("PRAGMA journal_mode = OFF")
    present = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    tables = [name for name in TIMED if name in present]
    count = sum(database.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables)
    length = max(database.execute(f"SELECT max(coalesce(end, start)) FROM {name}").fetchone()[0] or 0 for name in tables)
    length -= min(database.execute(f"SELECT min(start) FROM {name}").fetchone()[0] or length for name in tables)
    copies = -(-options.rows // count)
    for name in tables:
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({name})")]
        moved = ", ".join(f"{c} + c.n * {length + 1_000_000}" if c in ("start", "end")
                          else f"{c} + c.n * 10000000" if c == "correlationId" else f'"{c}"' for c in columns)
        database.execute(f"CREATE TEMP TABLE base AS SELECT * FROM {name}")
        database.execute(f"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {copies - 1}) "
                         f"INSERT INTO {name} SELECT {moved} FROM c, base" if copies > 1 else "SELECT 1")
        database.execute("DROP TABLE base")
    database.commit()
    database.close()
    print(f"{options.output}: {copies * count} rows, {copies} copies")


if __name__ == "__main__":
    main()
