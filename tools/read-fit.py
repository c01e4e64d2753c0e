#!/usr/bin/env python3
"""Prints what the file of a fit holds: parameters with names, shapes and values, the statement of
privacy, the columns, the means of draws that are kept, phases, diagnostics and the formula; with --draws each draw,
and with --model the sites and nodes of model and guide.  It needs nothing but Python; doc/format.md is
the form, and contrib/python/tacit_fit.py reads it."""
import math
import os
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "contrib", "python"))
from tacit_fit import FIELDS, Reader, named, reals, sections  # noqa: E402


def print_parameters(names, values):
    values = reals(values)
    for name, shape, places in named(names):
        print("parameter", name, shape, *(repr(values[i]) for i in places))


def print_draws(names, values, each):
    n, size, values = names.number(), names.number(), reals(values)
    if n * size != len(values):
        raise ValueError("the draws are not as many as it says")
    print(n, "draws of", size, "numbers")
    for name, shape, places in named(names):
        print("latent", name, shape, "mean", *(sum(values[i::size]) / n for i in places))
    for k in range(n if each else 0):
        print(f"draw {k}:", *(repr(x) for x in values[k * size : (k + 1) * size]))


def print_phases(r):
    for _ in range(r.number()):
        print(f"phase {r.text()}: {r.number()} releases, sigma {r.real()!r}, clip {r.real()!r}")


def print_diagnostics(r):
    for _ in range(r.number()):
        name, value, limit, bad, words = r.text(), r.real(), r.real(), r.number(), r.text()
        print(f"{name}: {value!r}, limit {limit!r}, {'bad' if bad else 'good'}: {words}")


def print_privacy(r):
    print("private" if r.number() else "not private")
    for what in ("why not", "warning", "adjacency"):
        print(f"{what}: {r.text()}")
    for what in ("epsilon", "delta", "sigma", "clip", "rate", "eta", "asked delta"):
        print(f"{what}: {r.real()!r}")
    print("epoch:", r.number(), "steps:", r.number(), "sampling:", r.text())


def print_columns(r):
    for _ in range(r.number()):
        name, kind = r.text(), r.text()
        size, groups, most, drawn, observed = (r.number() for _ in range(5))
        told = [f"{groups} groups"] * (groups > 0) + [f"bytes up to {most}"] * (most > 0)
        told += ["drawn"] * drawn + ["observed"] * observed
        print(", ".join([f"column {name}: {kind} of {size}"] + told))


def print_source(r):
    for what in ("formula", "family", "priors"):
        print(f"{what}: {r.text()}")
    for _ in range(r.number()):
        print("schema:", r.text())


def print_model(title, r):
    magic, version, _guide, n_plates, n_nodes, n_sites = (r.number() for _ in range(6))
    print(title, "of version", version)
    for k in range(n_plates):
        print(f"  plate {k + 1} {r.text()}: {r.number() or 'the records'}")
    for k in range(n_nodes):
        operation, name, file, line = r.text(), r.text(), r.text(), r.number()
        inputs = [i for i in (r.signed(), r.signed()) if i >= 0]
        per_record, n_dims = r.number(), r.number()
        shape = [(r.number(), r.signed())[0] for _ in range(n_dims)]
        fields, size, given = r.number(), math.prod(shape), []
        for bit, count in enumerate(FIELDS):
            if fields >> bit & 1:
                given.append((bit, r.take(8 * (size if count is None else count)).hex()))
        print(f"  node {k} {operation}", name or "", inputs, shape, "each" * per_record,
              f"{file}:{line}", *(f"{bit}={value}" for bit, value in given))
    for _ in range(n_sites):
        kind, name, file, line, node, family = (r.text(), r.text(), r.text(), r.number(),
                                                r.number(), r.text())
        arguments = [r.number() for _ in range(r.number())]
        rule, value, places, seed = r.number(), r.real(), r.number(), r.number()
        print(f"  {kind} {name} node {node} {family or ''}{arguments} start {rule} {value!r}",
              f"{places} {seed} {file}:{line}")


def main(path):
    with open(path, "rb") as file:
        found = dict(sections(file.read()))
    print_parameters(Reader(found["parameters"]), found["values"])
    print_privacy(Reader(found["privacy"]))
    print_columns(Reader(found["columns"]))
    run = Reader(found["run"])
    print("cut at", run.text(), "in", run.text(), "precision")
    if "draws" in found:
        print_draws(Reader(found["latents"]), found["draws"], "--draws" in sys.argv)
    if "phases" in found:
        print_phases(Reader(found["phases"]))
    if "diagnostics" in found:
        print_diagnostics(Reader(found["diagnostics"]))
    if "source" in found:
        print_source(Reader(found["source"]))
    for title in ("model", "guide"):
        if title in found and "--model" in sys.argv:
            print_model(title, Reader(found[title]))


if len(sys.argv) < 2 or sys.argv[-1].startswith("-"):
    sys.exit("usage: read-fit.py [--model] [--draws] FILE")
try:
    main(sys.argv[-1])
except OSError as error:
    sys.exit(f"read-fit: cannot read {sys.argv[-1]}: {error.strerror}; check the path")
except (ValueError, KeyError, IndexError, struct.error) as error:
    sys.exit(f"read-fit: {sys.argv[-1]}: {error}; take an intact fit, as dp_fit_save writes it")
