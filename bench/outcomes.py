#!/usr/bin/python3
"""How near private fits are to fits without privacy on outcomes as they are, of which no model is right.

    bench/outcomes.py --data DIRECTORY [--tool ./tacit] [--epsilon 1,4] [--fits 3]

bench/answers formulas invents its outcomes from the model.  Here they are those of the files:
adult.data.gz (Becker and Kohavi, UCI) and cardio_train.csv.gz.  A JSON line for each table and
epsilon, over all coefficients and fits: error, mean distance of the private mean from the mean
without privacy, in standard deviations without privacy; width, of private standard deviations in
those; off, root mean square distance in private standard deviations; bad, fits with a bad check."""

import argparse
import csv
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile

ADULT = "age workclass weight education education_num marital occupation relation race sex gain loss hours country y".split()
ADULT_SCHEMA = """age real 16 .. 90
education_num integer 1 .. 16
race level Amer-Indian-Eskimo Asian-Pac-Islander Black Other White
sex level Female Male
hours real 0 .. 100
y level <=50K >50K
"""
CARDIO_SCHEMA = """age real 20 .. 80
gender level 1 2
cholesterol level 1 2 3
weight real 30 .. 200 clamp
ap_hi real 60 .. 260
ap_lo real 30 .. 200
smoke integer 0 .. 1
cardio integer 0 .. 1
"""
ADULT_FORMULA = "y ~ age + I(age^2) + sex + education_num + hours + race"
CARDIO_FORMULA = "cardio ~ age + gender + cholesterol + weight + ap_hi + ap_lo + smoke"
FEWER = {"adult": 8000, "cardio": 5000}


def adult(folder):
    with gzip.open(os.path.join(folder, "adult", "adult.data.gz"), "rt") as lines:
        return [dict(zip(ADULT, line.strip().split(", "))) for line in lines if line.strip()]


def cardio(folder):
    """Without blood pressures that nobody has; ages in years."""
    with gzip.open(os.path.join(folder, "cardio", "cardio_train.csv.gz"), "rt") as lines:
        rows = [r for r in csv.DictReader(lines, delimiter=";")
                if 60 <= float(r["ap_hi"]) <= 260 and 30 <= float(r["ap_lo"]) <= 200]
    return [dict(r, age="%.2f" % (float(r["age"]) / 365.25)) for r in rows]


def write(path, rows):
    with open(path, "w", newline="") as to:
        table = csv.DictWriter(to, rows[0].keys())
        table.writeheader()
        table.writerows(rows)


def fit(tool, formula, table, schema, out, arguments):
    command = [tool, "fit", formula, "--family", "bernoulli", "--data", table, "--schema", schema, "--out", out]
    subprocess.run(command + arguments, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    told = json.loads(subprocess.run([tool, "summary", out, "--json"], check=True, stdout=subprocess.PIPE).stdout)
    os.remove(out)
    return ({n["name"]: (n["mean"], n["sd"]) for n in told["numbers"] if n["name"].startswith("b_")},
            any(c["bad"] for c in told["checks"]))


def compare(asked, name, formula, rows, schema_text):
    with tempfile.TemporaryDirectory() as folder:
        table, schema, out = (os.path.join(folder, f) for f in ("t.csv", "t.schema", "t.fit"))
        write(table, rows)
        with open(schema, "w", encoding="ascii") as to:
            to.write(schema_text)
        exact, _ = fit(asked.tool, formula, table, schema, out, ["--no-privacy"])
        for epsilon in asked.epsilon.split(","):
            budget = ["--epsilon", epsilon, "--delta", "1e-5", "--hopeless-allowed"]
            fits = [fit(asked.tool, formula, table, schema, out, budget) for _ in range(asked.fits)]
            pairs = [(m, s) + tuple(exact[k]) for found, _ in fits for k, (m, s) in found.items()]
            print(json.dumps({
                "kernel": "outcomes", "table": name, "n": len(rows), "formula": formula, "epsilon": float(epsilon), "delta": 1e-5,
                "fits": asked.fits, "numbers": len(exact),
                "error": sum(abs(m - a) / b for m, s, a, b in pairs) / len(pairs),
                "width": sum(s / b for m, s, a, b in pairs) / len(pairs),
                "off": (sum(((m - a) / s) ** 2 for m, s, a, b in pairs) / len(pairs)) ** 0.5,
                "bad": sum(bad for _, bad in fits)}), flush=True)


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("--data", required=True)
    ask.add_argument("--tool", default="./tacit")
    ask.add_argument("--epsilon", default="1,4")
    ask.add_argument("--fits", type=int, default=3)
    asked = ask.parse_args()
    random.seed(1)
    for name, read, formula, schema in (("adult", adult, ADULT_FORMULA, ADULT_SCHEMA), ("cardio", cardio, CARDIO_FORMULA, CARDIO_SCHEMA)):
        rows = read(asked.data)
        for some in (rows, random.sample(rows, FEWER[name])):
            compare(asked, name, formula, some, schema)


if __name__ == "__main__":
    sys.exit(main())
