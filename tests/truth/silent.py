"""What lint keeps silent about because of where it stands, by a labelled sample.

usage: silent.py STALLSCOPE SILENT.csv CLONES

A row of SILENT.csv is a line with a tensor read, made, moved or selected that
lint did not name when it was drawn, since it took its function for one that no
training step runs: `context` says for what instead. It is a `stall` when that
was wrong, `silent` when it was right. Prints how many of both are named now.
"""
import collections
import sys

from truth import percent, report_of, rows_by, rules_by_line


def main():
    tool, table, clones = sys.argv[1:4]
    rows_of = rows_by(table, "repository", "commit")
    counts = collections.defaultdict(lambda: [0, 0, 0, 0])  # stalls, named; others, named
    absent = []
    for (repository, commit), rows in sorted(rows_of.items()):
        report = report_of(tool, clones, repository, commit)
        if report is None:
            absent.append(repository)
            continue
        found = rules_by_line(report)
        for row in rows:
            named = row["rule"] in found[row["path"], int(row["line"])]
            at = 0 if row["verdict"] == "stall" else 2
            for count in (counts[row["context"]], counts["all"]):
                count[at] += 1
                count[at + 1] += named
            if named != (row["verdict"] == "stall"):
                print(f"{'named' if named else 'not named'}: {repository} {row['path']}:{row['line']} "
                      f"{row['rule']} ({row['why']})")
    print(f"{'taken for':12} {'lines':>6} {'stalls':>7} {'':>6} {'named now':>10} {'others named':>13}")
    for context, (stalls, named, others, noisy) in sorted(counts.items()):
        print(f"{context:12} {stalls + others:6} {stalls:7} {percent(stalls, stalls + others):>6} {named:10} "
              f"{noisy:13}")
    if absent:
        print("not among the clones:", ", ".join(absent))


if __name__ == "__main__":
    main()
