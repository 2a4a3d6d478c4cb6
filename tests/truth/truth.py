"""Precision and recall per rule over labelled lines of public repositories.

usage: truth.py STALLSCOPE PAIRS.csv CLONES

CLONES holds one git repository per owner+name (a work tree, or a bare one).
A pair's line is found when one of its rules names it in the commit before the
fix, as the finding or as related to it. Its twin, the lines the fix put in
its place, is noisy when one of the same rules names any of them in the fix.
"""
import collections
import concurrent.futures
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# What lint reads: sources, and the configurations and launch scripts that name what they run.
SOURCES = ("py", "cpp", "cc", "cxx", "cu", "cuh", "h", "hh", "hpp", "c", "yaml", "yml", "sh")
PROJECT = "pyproject.toml"


def rows_by(table, *columns):
    """The rows of a table of labels, by what they say in some columns."""
    grouped = collections.defaultdict(list)
    with open(table, newline="", encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            grouped[tuple(row[column] for column in columns)].append(row)
    return grouped


def git_folder(clones, repository):
    base = pathlib.Path(clones) / repository.replace("/", "+")
    for candidate in (base, base / "repo", pathlib.Path(clones) / repository):
        if (candidate / ".git").exists() or (candidate / "objects").exists():
            return candidate
    return None


def checkout(clone, commit, into):
    globs = [f":(glob)**/*.{ending}" for ending in SOURCES]
    listed = subprocess.run(["git", "-C", str(clone), "ls-tree", "-r", "--name-only", commit],
                            capture_output=True, text=True, check=False)
    present = {name.rsplit(".", 1)[-1] for name in listed.stdout.splitlines()}
    globs = [glob for glob, ending in zip(globs, SOURCES) if ending in present]
    if any(name.rsplit("/", 1)[-1] == PROJECT for name in listed.stdout.splitlines()):
        globs.append(f":(glob)**/{PROJECT}")
    archive = subprocess.Popen(["git", "-C", str(clone), "archive", commit, "--", *globs],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    done = subprocess.run(["tar", "x", "-C", into], stdin=archive.stdout, check=False)
    archive.wait()
    (pathlib.Path(into) / PROJECT).touch()  # the root of the project, also where it has none
    return done.returncode == 0 and archive.returncode == 0


def lint_report(tool, folder):
    # "off" takes minutes instead of hours, and says what lint finds without libclang's types.
    types = os.environ.get("STALLSCOPE_TRUTH_LIBCLANG", "auto")
    # What is found must not depend on how fast the machine is.
    budget = [] if types == "off" else ["--libclang-budget", str(24 * 3600)]
    run = subprocess.run([tool, "lint", ".", "--format", "json", "--no-cache", "--exit-zero", "--libclang", types, *budget],
                         cwd=folder, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise SystemExit(f"stallscope failed: {run.stderr}")
    return json.loads(run.stdout)


def report_of(tool, clones, repository, commit):
    """The report on one commit; None when the clone does not hold it."""
    clone = git_folder(clones, repository)
    with tempfile.TemporaryDirectory() as folder:
        if clone is None or not checkout(clone, commit, folder):
            return None
        return lint_report(tool, folder)


def rules_by_line(report):
    found = collections.defaultdict(set)
    for finding in report["findings"]:
        for place in finding["locations"]:  # advice has all its places
            found[place["file"], place["line"]].add(finding["ruleId"])
            found[place["file"], place["line"]].update(finding.get("related") or [])
    return found


def lines_of(text):
    """"12-15" as 12..15, empty as nothing."""
    if not text:
        return range(0)
    first, last = map(int, text.split("-"))
    return range(first, last + 1)


def findings_at(tool, clones, repository, commit):
    """The rules found on each line of one commit; None when the clone does not hold it."""
    report = report_of(tool, clones, repository, commit)
    return None if report is None else rules_by_line(report)


def percent(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else "-"


def table(title, counts):
    print(f"{title:32} {'lines':>6} {'found':>6} {'recall':>7} {'twins':>6} {'noisy':>6} {'precision':>10}")
    for rule, count in sorted(counts.items()):
        lines = count["found"] + count["missed"]
        print(f"{rule:32} {lines:6} {count['found']:6} {percent(count['found'], lines):>7} "
              f"{count['noisy'] + count['quiet']:6} {count['noisy']:6} "
              f"{percent(count['found'], count['found'] + count['noisy']):>10}")
    print()


def main():
    tool, pairs, clones = sys.argv[1:4]
    by_fix = rows_by(pairs, "repository", "fix")
    only = os.environ.get("STALLSCOPE_TRUTH_SPLIT")  # "tuned": leave the held-out half alone
    counts = {split: collections.defaultdict(collections.Counter) for split in ("tuned", "held-out")}
    repositories = collections.defaultdict(set)
    absent = set()
    wanted = [(fix, rows) for fix, rows in sorted(by_fix.items()) if only in (None, rows[0]["split"])]

    def both_sides(entry):
        (repository, fix), _ = entry
        return [findings_at(tool, clones, repository, commit) for commit in (fix + "^", fix)]

    sides = concurrent.futures.ThreadPoolExecutor(os.cpu_count()).map(both_sides, wanted)
    for ((repository, fix), rows), (before, after) in zip(wanted, sides):
        split = rows[0]["split"]
        if before is None or after is None:
            absent.add(repository)
            continue
        repositories[split].add(repository)
        for row in rows:
            rules = set(row["rule"].split("|"))
            hit = bool(rules & before.get((row["path"], int(row["line"])), set()))
            noisy = [line for line in lines_of(row["good"]) if rules & after.get((row["path"], line), set())]
            for key in (row["rule"].split("|")[0], "all"):
                counts[split][key]["found" if hit else "missed"] += 1
                if row["good"]:
                    counts[split][key]["noisy" if noisy else "quiet"] += 1
            if not hit:
                print(f"missed {split} {repository}@{fix[:10]}^ {row['path']}:{row['line']} {row['rule']}")
            if noisy:
                print(f"noisy  {split} {repository}@{fix[:10]} {row['path']}:{noisy[0]} {row['rule']}")
    print()
    for split, rules in counts.items():
        if rules:
            table(f"{split} ({len(repositories[split])} repositories)", rules)
    if absent:
        print("not in", clones + ":", ", ".join(sorted(absent)))


if __name__ == "__main__":
    main()
