"""Whether each row of tests/truth has the form that scripts/truth.sh reads: it takes clones and minutes to find out
there. Prints what is wrong and exits 1.

    truth_labels.py SOURCE
"""
import csv
import pathlib
import re
import sys

SOURCE = pathlib.Path(sys.argv[1])
RULES = {file.stem for file in (SOURCE / "rules").glob("*.yaml")}
REPOSITORY, COMMIT, SPLIT = r"[^/\s]+/[^/\s]+", r"[0-9a-f]{40}", r"tuned|held-out"
FORMS = {
    "pairs.csv": {"repository": REPOSITORY, "fix": COMMIT, "path": r".+", "line": r"[1-9]\d*", "rule": r".+",
                  "good": r"(\d+-\d+)?", "split": SPLIT},
    # A repository without findings has one row that says only that it was read.
    "alarms.csv": {"repository": REPOSITORY, "commit": COMMIT, "path": r".*", "line": r"\d*", "rule": r".*",
                   "verdict": r"(stall|alarm)?", "split": SPLIT},
    "read.csv": {"repository": REPOSITORY, "commit": COMMIT, "path": r".+", "line": r"[1-9]\d*", "rule": r".+",
                 "sure": r"yes|no"},
}


def faults(name):
    with open(SOURCE / "tests/truth" / name, newline="") as file:
        for row in csv.DictReader(file):
            at = f"{name}: {row['repository']} {row['path']}:{row['line']}"
            for column, form in FORMS[name].items():
                if not re.fullmatch(form, row[column] or ""):
                    yield f"{at}: {column} is {row[column]!r}"
            for rule in filter(None, (row["rule"] or "").split("|")):
                if rule not in RULES:
                    yield f"{at}: there is no rule {rule}"


found = [fault for name in FORMS for fault in faults(name)]
print("\n".join(found))
sys.exit(1 if found else 0)
