#!/usr/bin/python3
"""How near private fits are to fits without privacy on outcomes as they are, of which no model is right.

    bench/outcomes.py --data DIRECTORY [--tool ./tacit] [--epsilon 1,4] [--fits 3]

bench/answers formulas invents its outcomes from the model.  Here they are those of files:
of UCI's repository, of posteriordb and of Gelman and Hill's radon.  A JSON line for each table and
epsilon, over all coefficients and fits: error, mean distance of the private mean from the mean
without privacy, in standard deviations without privacy; width, of private standard deviations in
those; off, root mean square distance in private standard deviations, and of the worst coefficient;
bad, fits with a bad check."""

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
PIMA = "pregnancies glucose pressure fold insulin bmi pedigree age diabetes".split()
HEART = "age sex cp trestbps chol fbs restecg thalach exang oldpeak slope ca thal num".split()
SCHEMAS = {
    "adult": """age real 16 .. 90
education_num integer 1 .. 16
race level Amer-Indian-Eskimo Asian-Pac-Islander Black Other White
sex level Female Male
hours real 0 .. 100
y level <=50K >50K
""",
    "cardio": """age real 20 .. 80
gender level 1 2
cholesterol level 1 2 3
weight real 30 .. 200 clamp
ap_hi real 60 .. 260
ap_lo real 30 .. 200
smoke integer 0 .. 1
cardio integer 0 .. 1
""",
    "pima": """pregnancies integer 0 .. 20
glucose real 40 .. 250
bmi real 10 .. 70
age integer 18 .. 90
diabetes integer 0 .. 1
""",
    "heart": """age integer 20 .. 90
sex integer 0 .. 1
trestbps real 80 .. 220
chol real 100 .. 600
thalach real 60 .. 220
exang integer 0 .. 1
num integer 0 .. 4
""",
    "kidiq": """kid_score real 0 .. 160
mom_hs integer 0 .. 1
mom_iq real 60 .. 150
""",
    "wells": """switched integer 0 .. 1
dist real 0 .. 400
arsenic real 0 .. 10
educ integer 0 .. 20
""",
    "nes": """partyid7 integer 1 .. 7
real_ideo integer 1 .. 7
race_adj real 1 .. 2
age_discrete level 1 2 3 4
educ1 integer 1 .. 4
gender level 1 2
income integer 1 .. 5
""",
    "earnings": """earn real 100 .. 250000
height real 50 .. 85
male integer 0 .. 1
""",
    "radon": """log_radon real -3 .. 5
floor integer 0 .. 1
""",
}
# table, records of it (0: all), family, formula
CASES = (
    ("adult", 0, "bernoulli", "y ~ age + I(age^2) + sex + education_num + hours + race"),
    ("adult", 8000, "bernoulli", "y ~ age + I(age^2) + sex + education_num + hours + race"),
    ("cardio", 0, "bernoulli", "cardio ~ age + gender + cholesterol + weight + ap_hi + ap_lo + smoke"),
    ("cardio", 5000, "bernoulli", "cardio ~ age + gender + cholesterol + weight + ap_hi + ap_lo + smoke"),
    ("wells", 0, "bernoulli", "switched ~ dist + arsenic + educ"),
    ("pima", 0, "bernoulli", "diabetes ~ glucose + bmi + age"),
    ("adult", 0, "gaussian", "hours ~ age + I(age^2) + sex + education_num"),
    ("adult", 2000, "gaussian", "hours ~ age + I(age^2) + sex + education_num"),
    ("cardio", 0, "gaussian", "ap_hi ~ age + gender + cholesterol + weight"),
    ("cardio", 5000, "gaussian", "ap_hi ~ age + gender + cholesterol + weight"),
    ("earnings", 0, "gaussian", "earn ~ height + male"),
    ("earnings", 0, "gamma(log)", "earn ~ height + male"),
    ("earnings", 0, "lognormal", "earn ~ height + male"),
    ("kidiq", 0, "gaussian", "kid_score ~ mom_hs * mom_iq"),
    ("nes", 0, "gaussian", "partyid7 ~ real_ideo + race_adj + age_discrete + educ1 + gender + income"),
    ("radon", 0, "gaussian", "log_radon ~ floor"),
    ("heart", 0, "gaussian", "thalach ~ age + exang"),
    ("pima", 0, "poisson", "pregnancies ~ age"),
    ("pima", 0, "negbinomial", "pregnancies ~ age"),
    ("adult", 8000, "poisson", "education_num ~ age + sex"),
)
POSTERIORDB = {"kidiq": "kidiq-kidscore_interaction", "wells": "wells_data-wells_dist100_model", "nes": "nes1980-nes",
               "earnings": "earnings-logearn_height"}


def lines_of(folder, name, names, blank=","):
    opener = gzip.open if name.endswith(".gz") else open
    with opener(os.path.join(folder, name), "rt") as lines:
        return [dict(zip(names, line.strip().split(blank))) for line in lines if line.strip()]


def cardio(folder):
    """Without blood pressures that nobody has; ages in years."""
    with gzip.open(os.path.join(folder, "cardio", "cardio_train.csv.gz"), "rt") as lines:
        rows = [r for r in csv.DictReader(lines, delimiter=";")
                if 60 <= float(r["ap_hi"]) <= 260 and 30 <= float(r["ap_lo"]) <= 200]
    return [dict(r, age="%.2f" % (float(r["age"]) / 365.25)) for r in rows]


def posteriordb(folder, name):
    with open(os.path.join(folder, "posteriordb", POSTERIORDB[name], "data.json"), encoding="utf-8") as text:
        columns = {k: v for k, v in json.load(text).items() if isinstance(v, list) and len(v) > 1}
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def table_of(folder, name):
    if name == "adult":
        return lines_of(folder, "adult/adult.data.gz", ADULT, ", ")
    if name == "pima":
        return [r for r in lines_of(folder, "pima/pima-indians-diabetes.csv", PIMA) if float(r["bmi"]) > 0 and float(r["glucose"]) > 0]
    if name == "heart":
        return lines_of(folder, "heart/processed.cleveland.data", HEART)
    if name == "radon":
        with open(os.path.join(folder, "radon", "mn_radon.csv"), encoding="utf-8") as text:
            return list(csv.DictReader(text))
    return cardio(folder) if name == "cardio" else posteriordb(folder, name)


def write(path, rows, schema):
    columns = [line.split()[0] for line in schema.splitlines()]
    with open(path, "w", newline="") as to:
        table = csv.DictWriter(to, columns, extrasaction="ignore")
        table.writeheader()
        table.writerows(rows)


def fit(tool, family, formula, table, schema, out, arguments):
    command = [tool, "fit", formula, "--family", family, "--data", table, "--schema", schema, "--out", out]
    subprocess.run(command + arguments, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    told = json.loads(subprocess.run([tool, "summary", out, "--json"], check=True, stdout=subprocess.PIPE).stdout)
    os.remove(out)
    return ({n["name"]: (n["mean"], n["sd"]) for n in told["numbers"] if n["name"].startswith("b_")},
            any(c["bad"] for c in told["checks"]))


def root_mean_square(values):
    return (sum(v * v for v in values) / len(values)) ** 0.5


def compare(asked, name, family, formula, rows):
    with tempfile.TemporaryDirectory() as folder:
        table, schema, out = (os.path.join(folder, f) for f in ("t.csv", "t.schema", "t.fit"))
        write(table, rows, SCHEMAS[name])
        with open(schema, "w", encoding="ascii") as to:
            to.write(SCHEMAS[name])
        exact, _ = fit(asked.tool, family, formula, table, schema, out, ["--no-privacy"])
        for epsilon in asked.epsilon.split(","):
            budget = ["--epsilon", epsilon, "--delta", "1e-5", "--hopeless-allowed"]
            fits = [fit(asked.tool, family, formula, table, schema, out, budget) for _ in range(asked.fits)]
            off = {k: root_mean_square([(found[k][0] - mean) / found[k][1] for found, _ in fits])
                   for k, (mean, _) in exact.items()}
            pairs = [(m, s) + tuple(exact[k]) for found, _ in fits for k, (m, s) in found.items()]
            worst = max(off, key=off.get)
            print(json.dumps({
                "kernel": "outcomes", "table": name, "n": len(rows), "family": family, "formula": formula,
                "epsilon": float(epsilon), "delta": 1e-5, "fits": asked.fits, "numbers": len(exact),
                "error": sum(abs(m - a) / b for m, s, a, b in pairs) / len(pairs),
                "width": sum(s / b for m, s, a, b in pairs) / len(pairs),
                "off": root_mean_square(list(off.values())), "worst": worst, "worst_off": off[worst],
                "bad": sum(bad for _, bad in fits)}), flush=True)


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("--data", required=True)
    ask.add_argument("--tool", default="./tacit")
    ask.add_argument("--epsilon", default="1,4")
    ask.add_argument("--fits", type=int, default=3)
    ask.add_argument("--tables", help="only of these")
    asked = ask.parse_args()
    random.seed(1)
    for name, records, family, formula in CASES:
        if asked.tables is None or name in asked.tables.split(","):
            rows = table_of(asked.data, name)
            compare(asked, name, family, formula, random.sample(rows, records) if records > 0 else rows)


if __name__ == "__main__":
    sys.exit(main())
