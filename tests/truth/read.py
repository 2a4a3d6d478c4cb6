"""How much of what readers list lint names: every stalling line of the training path of whole programs.

usage: read.py STALLSCOPE READ.csv CLONES

A row of READ.csv is a line that somebody who had the catalogue of rules, and not lint's findings, took for a
stall of each step: `rule` is what should name it (several with `|`), `sure` is no where that depends on what
the reader could not see. A line counts as named when one of its rules names it or the line beside it, where
calls run over several. Prints how many are, by the first of their rules.
"""
import collections
import sys

from truth import percent, report_of, rows_by, rules_by_line


def main():
    tool, table, clones = sys.argv[1:4]
    rows_of = rows_by(table, "repository", "commit")
    counts = collections.defaultdict(lambda: [0, 0, 0, 0])  # sure, named; not sure, named
    absent = []
    for (repository, commit), rows in sorted(rows_of.items()):
        report = report_of(tool, clones, repository, commit)
        if report is None:
            absent.append(repository)
            continue
        found = rules_by_line(report)
        for row in rows:
            rules, line = row["rule"].split("|"), int(row["line"])
            beside = set().union(*(found[row["path"], line + by] for by in (-1, 0, 1)))
            at = 0 if row["sure"] == "yes" else 2
            for count in (counts[rules[0]], counts["all"]):
                count[at] += 1
                count[at + 1] += bool(beside & set(rules))
            if at == 0 and not beside & set(rules):
                print(f"not named: {repository} {row['path']}:{line} {row['rule']}")
    print(f"{'rule':28} {'sure':>5} {'named':>6} {'':>6} {'others':>7} {'named':>6}")
    for rule, (sure, named, others, of_others) in sorted(counts.items(), key=lambda item: -item[1][0]):
        print(f"{rule:28} {sure:5} {named:6} {percent(named, sure):>6} {others:7} {of_others:6}")
    if absent:
        print("not among the clones:", ", ".join(absent))


if __name__ == "__main__":
    main()
