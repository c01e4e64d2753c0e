#!/usr/bin/python3
"""Tables of what bench/answers has measured.

    bench/answers ... > lines.json; bench/answers.py lines.json [more ...] [--method METHOD]

Without a file the lines are read from standard input.  A row is a problem, a method and an epsilon,
averaged over seeds; standard errors of means stand after +-, those of coverage are over seeds too,
since the quantities of one data set are not independent.  "asked" is what the automatic fit is
meant to reach; "floor" is the error of the exact solution under an ideal optimiser with the clip
norm and the metric chosen knowing the answer and nothing paid for the choice (predictors with
correlation 0.5, five and an intercept, delta n^-1.1).  * marks a mean above what is asked by more
than two standard errors."""

import argparse
import collections
import json
import math
import sys

# problem: {epsilon: (asked, floor)}, None where there is none.
GOALS = {
    "linear-500": {1: (None, 0.46), 4: (None, 0.21)},
    "linear-2000": {1: (0.42, 0.29), 4: (0.20, 0.13)},
    "linear-10000": {1: (0.30, 0.20), 4: (0.13, 0.10)},
    "linear-d26": {1: (0.55, 0.38), 4: (0.24, 0.18)},
    "linear-t4": {1: (0.99, 0.95), 4: (0.50, 0.44)},
    "linear-skewed": {1: (None, 0.85), 4: (None, 0.36)},
    "linear-unequal": {1: (None, 0.82), 4: (None, 0.37)},
    "logistic-500": {1: (0.75, 0.42), 4: (0.27, 0.17)},
    "logistic-2000": {1: (0.37, 0.25), 4: (0.18, 0.10)},
    "logistic-10000": {1: (0.23, 0.16), 4: (0.09, 0.05)},
    "logistic-d26": {1: (None, 0.34), 4: (None, 0.18)},
    "poisson-500": {1: (None, 0.47), 4: (None, 0.22)},
    "poisson-2000": {1: (0.40, 0.30), 4: (0.18, 0.16)},
    "poisson-10000": {1: (0.28, 0.23), 4: (0.12, 0.09)},
    "contraception": {1: (1.1, None), 4: (0.35, None)},
    "radon": {1: (0.75, None), 4: (0.44, None)},
}
COVERAGES = ["cov50", "cov90", "cov50_scales", "cov90_scales", "cov50_groups", "cov90_groups"]


def read(paths):
    lines = []
    for path in paths:
        with open(path, encoding="utf-8") if path != "-" else sys.stdin as text:
            lines += [json.loads(line) for line in text if line.strip()]
    return lines


def moments(values):
    """Mean and its standard error; None for no values."""
    values = [v for v in values if v is not None]
    if not values:
        return None, None
    mean = sum(values) / len(values)
    if len(values) == 1:
        return mean, None
    spread = sum((v - mean) ** 2 for v in values) / (len(values) - 1)
    return mean, math.sqrt(spread / len(values))


def number(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def figure(rows, name, digits=2):
    mean, error = moments([row.get(name) for row in rows])
    return number(mean, digits) + ("" if error is None else f" +- {number(error, digits)}")


def mean_of(rows, name, digits=2):
    return number(moments([row.get(name) for row in rows])[0], digits)


def error_with_goal(rows, goal):
    mean, error = moments([row.get("error") for row in rows])
    over = mean is not None and goal is not None and mean - 2 * (error or 0) > goal
    return figure(rows, "error") + (" *" if over else "")


def answer_row(key, rows):
    problem, truth, method, epsilon = key
    asked, floor = GOALS.get(problem, {}).get(epsilon, (None, None))
    if truth == "prior":
        asked = floor = None
    good = [row for row in rows if "failed" not in row]
    cells = [problem, str(rows[0]["n"]), method, "none" if epsilon is None else f"{epsilon:g}"]
    cells += [str(len(good)), str(len(rows) - len(good)), number(asked), number(floor)]
    cells += [error_with_goal(good, asked), mean_of(good, "error_groups"), figure(good, "width")]
    cells += [mean_of(good, name) for name in COVERAGES]
    cells += [mean_of(good, "flagged", 1), mean_of(good, "spent", 3)]
    return cells + [mean_of(good, "seconds"), mean_of(good, "processor")]


def table(head, rows):
    widths = [max(len(line[k]) for line in [head] + rows) for k in range(len(head))]
    rule = ["-" * width for width in widths]
    for line in [head, rule] + rows:
        print("| " + " | ".join(c.ljust(w) for c, w in zip(line, widths)) + " |")
    print()


def grouped(lines, names):
    groups = collections.OrderedDict()
    for line in lines:
        groups.setdefault(tuple(line.get(name) for name in names), []).append(line)
    return groups


def answers(lines):
    head = ["problem", "n", "method", "eps", "runs", "failed", "asked", "floor", "error"]
    head += ["groups", "width"] + COVERAGES + ["flagged", "spent", "seconds", "processor"]
    for truth, some in grouped(lines, ["truth"]).items():
        print(f"True values: {truth[0]}\n")
        groups = grouped(some, ["problem", "truth", "method", "epsilon"])
        table(head, [answer_row(key, rows) for key, rows in groups.items()])


def null_row(row):
    epsilon = row["epsilon"]
    cells = [str(row["n"]), row["method"], "none" if epsilon is None else f"{epsilon:g}"]
    cells += [str(row["runs"]), str(row["failed"])]
    return cells + [number(row[name], 3) for name in ["excluded", "width", "widest", "flagged"]]


def case_row(key, rows):
    verdicts = collections.Counter(row["verdict"] for row in rows)
    names = collections.Counter(name for row in rows for name in row.get("bad", "").split())
    cells = [key[0], f"{key[1]:g}", str(len(rows))]
    cells += [str(verdicts[name] or "") for name in ["right", "told", "silent", "failed"]]
    some = [row for row in rows if row["verdict"] != "failed"]
    for name in ["off", "error", "least", "most"]:
        values = sorted(row[name] for row in some)
        cells.append(f"{values[len(values) // 2]:.2g}" if values else "-")
    return cells + [", ".join(f"{name} {count}" for name, count in names.most_common())]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lines", nargs="*", default=["-"], help="files of JSON lines")
    parser.add_argument("--method", help="only lines of this method")
    ask = parser.parse_args()
    lines = [line for line in read(ask.lines) if ask.method in (None, line.get("method"))]
    found = [line for line in lines if line["kernel"] == "answers"]
    null = [line for line in lines if line["kernel"] == "answers-null"]
    if found:
        answers(found)
    cases = [line for line in lines if line["kernel"] == "answers-cases"]
    if cases:
        head = ["case", "eps", "runs", "right", "told", "silent", "failed", "off", "error"]
        groups = grouped(cases, ["case", "epsilon"])
        rows = [case_row(key, rows) for key, rows in groups.items()]
        table(head + ["least", "most", "diagnostics that were bad"], rows)
    if null:
        print("Coin tosses: share of 90 % intervals that exclude 0, width against the prior's\n")
        head = ["n", "method", "eps", "runs", "failed", "excluded", "width", "widest", "flagged"]
        table(head, [null_row(row) for row in null])


if __name__ == "__main__":
    main()
