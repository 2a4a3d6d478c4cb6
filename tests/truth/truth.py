"""Precision and recall per rule over labelled lines of public repositories.

usage: truth.py STALLSCOPE PAIRS.csv CLONES

CLONES holds one git repository per owner+name (a work tree, or a bare one).
A `bad` line counts as found when any finding names it: one host block is one
finding, whichever rule speaks. A `good` line must not be named by its rule.
"""
import collections
import csv
import json
import pathlib
import subprocess
import sys
import tempfile


def git_folder(clones, repository):
    base = pathlib.Path(clones) / repository.replace("/", "+")
    for candidate in (base, base / "repo", pathlib.Path(clones) / repository):
        if (candidate / ".git").exists() or (candidate / "objects").exists():
            return candidate
    return None


def checkout(clone, commit, into):
    archive = subprocess.Popen(["git", "-C", str(clone), "archive", commit, "--", ":(glob)**/*.py"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    done = subprocess.run(["tar", "x", "-C", into], stdin=archive.stdout, check=False)
    archive.wait()
    (pathlib.Path(into) / "pyproject.toml").touch()
    return done.returncode == 0 and archive.returncode == 0


def lint(tool, folder):
    run = subprocess.run([tool, "lint", ".", "--format", "json", "--no-cache", "--exit-zero"],
                         cwd=folder, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise SystemExit(f"stallscope failed: {run.stderr}")
    found = collections.defaultdict(set)
    for finding in json.loads(run.stdout)["findings"]:
        place = finding["locations"][0]
        found[place["file"], place["line"]].add(finding["ruleId"])
        found[place["file"], place["line"]].update(finding.get("related") or [])
    return found


def main():
    tool, pairs, clones = sys.argv[1:4]
    by_commit = collections.defaultdict(list)
    with open(pairs, newline="") as rows:
        for row in csv.DictReader(rows):
            by_commit[row["repository"], row["commit"]].append(row)
    counts = collections.defaultdict(collections.Counter)
    absent = set()
    for (repository, commit), rows in sorted(by_commit.items()):
        clone = git_folder(clones, repository)
        with tempfile.TemporaryDirectory() as folder:
            if clone is None or not checkout(clone, commit, folder):
                absent.add(repository)
                continue
            found = lint(tool, folder)
        for row in rows:
            rules = found.get((row["path"], int(row["line"])), set())
            hit = bool(rules) if row["label"] == "bad" else row["rule"] in rules
            for key in (row["rule"], "all " + row["split"], "all"):
                counts[key][row["label"], hit] += 1
            if hit != (row["label"] == "bad"):
                word = "missed" if row["label"] == "bad" else "noisy "
                print(f"{word} {repository}@{commit[:10]} {row['path']}:{row['line']} {row['rule']}")
    print(f"{'rule':28} {'bad':>5} {'found':>6} {'recall':>7} {'good':>5} {'noisy':>6} {'precision':>10}")
    for rule, count in sorted(counts.items()):
        found, missed = count["bad", True], count["bad", False]
        noisy, quiet = count["good", True], count["good", False]
        recall = f"{found / (found + missed):.2f}" if found + missed else "-"
        precision = f"{found / (found + noisy):.2f}" if found + noisy else "-"
        print(f"{rule:28} {found + missed:5} {found:6} {recall:>7} {noisy + quiet:5} {noisy:6} {precision:>10}")
    if absent:
        print("not in", clones + ":", ", ".join(sorted(absent)))


if __name__ == "__main__":
    main()
