#!/usr/bin/python3
"""The table of formulas in doc/evaluation.md, from what bench/answers formulas has measured.

    bench/answers formulas ... > lines.json; bench/formulas.py lines.json [more ...]

A row is a formula.  For each epsilon: the error in exact posterior standard deviations over what the
budget allows at best, both averaged over the data sets whose fits have no check that is bad; the share of true values that 90 % intervals hold,
all named numbers together; how many fits were refused, and how many of the others had a check that
is bad.  * marks a ratio above 1.5 by more than two standard errors, and coverage that is off 0.9 by more
than two (of data sets, since the numbers of one are not independent).  Below the table: all formulas
together."""

import collections
import json
import math
import sys

AIM, LEVEL = 1.5, 0.9
KINDS = ("", "_own", "_groups")


def read(paths):
    lines = []
    for path in paths:
        with open(path, encoding="utf-8") if path != "-" else sys.stdin as text:
            lines += [json.loads(line) for line in text if line.startswith("{")]
    return [line for line in lines if line["kernel"] == "answers-formulas"]


def mean(values):
    return sum(values) / len(values)


def standard_error(values):
    if len(values) < 2:
        return math.inf
    middle = mean(values)
    return math.sqrt(sum((v - middle) ** 2 for v in values) / (len(values) - 1) / len(values))


def ratio(rows):
    """Of the mean error to the mean best one, and its standard error (of what is left of it)."""
    best = mean([row["best"] for row in rows])
    value = mean([row["error"] for row in rows]) / best
    return value, standard_error([row["error"] - value * row["best"] for row in rows]) / best


def held(row, kinds=KINDS):
    """Numbers within their intervals, and all numbers."""
    return [sum(row.get(name + kind, 0) for kind in kinds) for name in ("covered", "of")]


def coverage(rows, kinds=KINDS):
    """Share of all numbers, its standard error over data sets, and how many numbers there are."""
    pairs = [pair for pair in (held(row, kinds) for row in rows) if pair[1] > 0]
    if not pairs:
        return None, math.inf, 0
    inside, numbers = sum(p[0] for p in pairs), sum(p[1] for p in pairs)
    share = inside / numbers
    off = standard_error([p[0] - share * p[1] for p in pairs]) * len(pairs) / numbers
    least = math.sqrt(LEVEL * (1 - LEVEL) / numbers)
    return share, max(off, least), numbers


def cells(rows):
    good = [row for row in rows if "failed" not in row]
    refused, bad = len(rows) - len(good), sum(row["bad"] != "" for row in good)
    counts = f"{refused} / {bad}" if refused + bad else ""
    if not good:
        return ["-", "-", "-", counts]
    clear = [row for row in good if row["bad"] == ""]
    value, error = ratio(clear) if clear else (math.nan, math.inf)
    share, off, _ = coverage(good)
    best = mean([row["best"] for row in good])
    mark = " *" if value - 2 * error > AIM else ""
    if share is None:
        held_text = "-"
    else:
        held_text = f"{share:.2f}" + (" *" if abs(share - LEVEL) > 2 * off else "")
    ratio_text = f"{value:.2f}{mark}" if clear else "-"
    return [f"{best:.2f}", ratio_text, held_text, counts]


def grouped(lines, name):
    groups = collections.OrderedDict()
    for line in lines:
        groups.setdefault(line[name], []).append(line)
    return groups


def table(lines):
    budgets = sorted({line["epsilon"] for line in lines})
    head = ["data", "family", "formula", "fits"]
    for e in budgets:
        head += [f"best, {e:g}", "ratio", "90 %", "refused / bad"]
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for case in sorted(grouped(lines, "case")):
        rows = grouped(lines, "case")[case]
        first = rows[0]
        formula = "`" + first["formula"].replace("|", "\\|") + "`"
        by_budget = grouped(rows, "epsilon")
        cell = [first["data"], first["family"], formula]
        cell += [str(max(len(some) for some in by_budget.values()))]
        for e in budgets:
            cell += cells(by_budget.get(e, []))
        print("| " + " | ".join(cell) + " |")


def summary(lines):
    head = ["epsilon", "fits", "refused", "bad", "within 1.5", "surely above", "median ratio"]
    head += ["coefficients", "the family's own", "of groups"]
    print("\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for e, rows in sorted(grouped(lines, "epsilon").items()):
        good = [row for row in rows if "failed" not in row]
        clear = [row for row in good if row["bad"] == ""]
        pairs = [ratio(some) for some in grouped(clear, "case").values()]
        ratios = sorted(value for value, _ in pairs)
        shares = []
        for kind in KINDS:
            share, off, numbers = coverage(good, (kind,))
            shares.append(f"{share:.3f} +- {off:.3f} of {numbers}" if numbers else "-")
        within = sum(r <= AIM for r in ratios)
        above = sum(value - 2 * error > AIM for value, error in pairs)
        print(f"| {e:g} | {len(rows)} | {len(rows) - len(good)} | "
              f"{len(good) - len(clear)} | {within} of {len(ratios)} | {above} | "
              f"{ratios[len(ratios) // 2]:.2f} | " + " | ".join(shares) + " |")


def main():
    lines = read(sys.argv[1:] or ["-"])
    table(lines)
    summary(lines)


main()
