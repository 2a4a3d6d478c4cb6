"""False alarms per 1,000 lines of step and forward code, by a labelled sample.

usage: alarms.py STALLSCOPE ALARMS.csv CLONES [--sample N]

Lints the repositories of ALARMS.csv at the commits named there. A row labels
one finding: `stall` when somebody who tunes training programs would fix the
line or agree that it costs, `alarm` when not. The share of alarms among the
labelled findings that are still found, times all findings, is what is
expected among all. With --sample, prints findings without a label, N of each
repository in the order of a hash, as rows to label.
"""
import collections
import csv
import hashlib
import sys

from truth import percent, report_of


def findings_of(report):
    for finding in report["findings"]:
        if not finding.get("advice"):
            place = finding["locations"][0]
            yield place["file"], place["line"], finding["ruleId"]


def sample(repository, commit, findings, known, count):
    writer = csv.writer(sys.stdout, lineterminator="\n")
    key = lambda finding: hashlib.sha256(repr((repository, finding)).encode()).digest()
    open_ones = [f for f in sorted(set(findings), key=key) if f not in known]
    for path, line, rule in open_ones[:count]:
        writer.writerow([repository, commit, path, line, rule, "", "", ""])


def row(name, lines, found, labelled, alarms):
    share = alarms / labelled if labelled else 0
    rate = f"{1000 * found / lines:10.2f}" if lines else " " * 10
    false = f"{1000 * found * share / lines:13.2f}" if lines and labelled else " " * 13
    print(f"{name:44} {lines or '':>8} {found:8} {rate} {labelled:8} {alarms:6} {false}")


def main():
    tool, table, clones = sys.argv[1:4]
    wanted = int(sys.argv[5]) if sys.argv[4:5] == ["--sample"] else 0
    labels = collections.defaultdict(dict)
    split_of = {}
    with open(table, newline="", encoding="utf-8") as rows:
        for r in csv.DictReader(rows):
            key = (r["repository"], r["commit"])
            split_of[key] = r["split"]
            labels[key].update({(r["path"], int(r["line"]), r["rule"]): r["verdict"]}
                               if r["path"] else {})
    totals = collections.defaultdict(lambda: [0, 0, 0, 0])
    by_rule = collections.defaultdict(lambda: [0, 0, 0])
    absent = []
    if not wanted:
        print(f"{'repository':44} {'lines':>8} {'findings':>8} {'per 1,000':>10} {'labelled':>8} "
              f"{'alarms':>6} {'false / 1,000':>13}")
    for (repository, commit), known in sorted(labels.items()):
        report = report_of(tool, clones, repository, commit)
        if report is None:
            absent.append(repository)
            continue
        findings = list(findings_of(report))
        if wanted:
            sample(repository, commit, findings, known, wanted)
            continue
        lines = report["stepLines"]
        here = [known[f] for f in findings if f in known]
        alarms = here.count("alarm")
        row(repository, lines, len(findings), len(here), alarms)
        for total in (totals[split_of[repository, commit]], totals["all"]):
            for i, value in enumerate((lines, len(findings), len(here), alarms)):
                total[i] += value
        for finding in findings:
            counts = by_rule[finding[2]]
            counts[0] += 1
            if finding in known:
                counts[1] += 1
                counts[2] += known[finding] == "alarm"
    if wanted:
        return
    print()
    for name, total in sorted(totals.items(), reverse=True):
        row(name, *total)
    print(f"\n{'rule':44} {'findings':>8} {'labelled':>8} {'alarms':>6} {'right':>6}")
    for rule, (found, labelled, alarms) in sorted(by_rule.items(), key=lambda item: -item[1][0]):
        print(f"{rule:44} {found:8} {labelled:8} {alarms:6} {percent(labelled - alarms, labelled):>6}")
    if absent:
        print("not in", clones + ":", ", ".join(absent))


if __name__ == "__main__":
    main()
