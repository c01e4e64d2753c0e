#!/usr/bin/python3
"""Measures what doc/performance.md shows and writes that page with its pictures.

    make performance            in the build folder: builds the programs, runs them, writes
    bench/performance.py --build DIR [--peers FILE] [--from FILE] [--quick]

--from takes the lines of an earlier run instead of measuring; --peers adds the lines that
bench/peers/run has printed.  All lines are kept as bench/results/<date>-<commit>.json, and the page
names that file, so that every number on it can be traced.  Sections of the page that are not made here
stay where they are.  Needs python3-matplotlib."""

import argparse
import datetime
import json
import pathlib
import re
import statistics
import subprocess
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("performance.py draws with matplotlib: apt-get install python3-matplotlib")

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend comes first)

ROOT = pathlib.Path(__file__).resolve().parent.parent
BATCHES = [32, 64, 128, 256, 512, 1024]


class Section:
    """A heading, words, the commands whose lines it shows, and the columns of its table."""

    def __init__(self, title, words, commands, columns, same=None, picture=None, derive=None):
        self.title, self.words, self.commands = title, words, commands
        self.columns, self.picture = columns, picture
        self.derive = derive  # makes the rows of all lines instead
        self.same = same  # rows with the same values of these columns become one, with the medians

    def rows(self, lines):
        if self.same is None:
            return lines
        groups = {}
        for line in lines:
            groups.setdefault(tuple(line[c] for c in self.same), []).append(line)
        others = [c for c in self.columns if c not in self.same]
        return [
            dict(zip(self.same, key)) | {c: statistics.median(r[c] for r in rows) for c in others}
            for key, rows in groups.items()
        ]


def sections(quick):
    batches = [128] if quick else BATCHES
    steps = [["bench/vae_step", str(b), str(t), "single"] for t in (1, 2) for b in batches]
    steps += [["bench/vae_step", "128", str(t), "double"] for t in (1, 2)]
    return [
        Section(
            "A step of a variational autoencoder",
            "784-400-50-400-784, 688 884 parameters; medians of alternating plain and private steps, the same matrix products alone "
            "through OpenBLAS on as many threads, and ordinary noise alone on one. `ratio` is the median of private / plain, pair by pair.",
            steps,
            ["precision", "threads", "batch", "plain_ms", "private_ms", "ratio", "gemm_ms", "noise_ms", "peak_mb"],
            picture=draw_steps,
        ),
        Section(
            "Beside the machine's limits",
            "The private steps above by what they need and what the machine does at most, by its fastest matrix products, copies of arrays that no cache holds, and random "
            "words: milliseconds of each alone, the larger of memory's and the others' sum, and its share of the step. Needed are the products' operations; the "
            "parameters, two moments and the sum, read and written once, in double, and floats of the parameters; and 32 random bits for each number of noise.",
            [["bench/limits", "1"], ["bench/limits", "2"]],
            ["precision", "threads", "batch", "mflop", "mb", "products_ms", "memory_ms", "draws_ms", "least_ms", "private_ms", "share"],
            derive=shares,
        ),
        Section(
            "Parts of a private step",
            "The same network on one thread: parameters to floats; values of the records; their adjoints; norms and weighted factors; clipped sums; the "
            "optimiser; noise.",
            [["bench/vae_parts", "128"], ["bench/vae_parts", "128", "double"]],
            ["precision", "globals_ms", "forward_ms", "backward_ms", "norms_ms", "sums_ms", "optimiser_ms", "noise_ms"],
        ),
        Section(
            "Small models",
            "The hierarchical logistic regression of the d3p paper, 500 records, batches of 10, one thread: runs of 100 000 steps, medians of nine.",
            [["bench/hierarchical_logistic", "--seeds", "3" if quick else "9"]],
            ["form", "epsilon_asked", "steps_per_second", "seconds"],
            same=["form", "epsilon_asked"],
        ),
        Section(
            "Records and batch",
            "A logistic regression with two weights on records that are mapped from a file, under Poisson sampling; the choice of the batch "
            "alone by either sampler. What grows with the records is the time of memory that no cache holds; of 10^8 the file has 2.4 GB, "
            "pages of which a virtual machine may have to fetch: runs one after the other gave 29 to 1900 us.",
            [["bench/b-records", ".", "1e6" if quick else "1e8"]],
            ["n", "batch", "us_per_step", "us_poisson", "us_fixed"],
            picture=draw_records,
        ),
        Section(
            "Noise and samplers",
            "Nanoseconds a call on `size` numbers of `n`, or a number where the name says so.",
            [["bench/b-random"]],
            ["kernel", "n", "size", "ns_per_op"],
        ),
        Section(
            "Threads",
            "A private step of a logistic regression on all of 20 000 records, for units of one row and of four.",
            [["bench/b-threads", "2"]],
            ["d", "rows_per_unit", "threads", "ms_per_step"],
        ),
    ]


def shares(lines):
    """Of each step of vae_step the time that the machine's limits leave it, and the share of that."""
    limits = {r["threads"]: r for r in lines if r.get("bench") == "limits"}
    for r in lines:
        limit = limits.get(r["threads"]) if r.get("kernel") == "vae_step" else None
        if limit is None:
            continue
        products = r["mflop"] / limit[r["precision"] + "_gflops"]
        memory = r["mb"] / limit["gigabytes"]
        draws = r["random_mb"] / limit["random_gigabytes"]
        least = max(products + draws, memory)
        yield r | {"products_ms": products, "memory_ms": memory, "draws_ms": draws, "least_ms": least, "share": least / r["private_ms"]}


# ---- pictures ----


def save(figure, name):
    figure.tight_layout()
    figure.savefig(ROOT / "doc" / "figures" / name, metadata={"Date": None})
    plt.close(figure)


def draw_steps(lines):
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
    for axis, threads in zip(axes, (1, 2)):
        rows = [r for r in lines if r["threads"] == threads and r["precision"] == "single"]
        for key, label, style in (
            ("private_ms", "private", "o-"),
            ("plain_ms", "plain", "s-"),
            ("gemm_ms", "matrix products, OpenBLAS", "k--"),
        ):
            axis.loglog([r["batch"] for r in rows], [r[key] for r in rows], style, label=label, base=2)
        axis.set_title(f"{threads} thread{'s' if threads > 1 else ''}, single precision")
        axis.set_xlabel("batch")
    axes[0].set_ylabel("ms a step")
    axes[0].legend()
    save(figure, "performance-vae-step.svg")
    return "performance-vae-step.svg"


def draw_records(lines):
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.2))
    large = max(r["n"] for r in lines)
    by_n = [r for r in lines if r["batch"] == 128 and (r["n"] != 1000000 or large == 1000000)]
    by_batch = [r for r in lines if r["n"] == 1000000][-6:]
    axes[0].loglog([r["n"] for r in by_n], [r["us_per_step"] for r in by_n], "o-", label="step, batch 128")
    axes[0].loglog([r["n"] for r in by_n], [r["us_poisson"] for r in by_n], "s-", label="choice of the batch")
    axes[0].set_xlabel("records")
    axes[0].set_ylabel("us")
    axes[0].set_ylim(bottom=0.1)
    axes[0].legend()
    axes[1].loglog([r["batch"] for r in by_batch], [r["us_per_step"] for r in by_batch], "o-", label="step, 10^6 records")
    axes[1].loglog(
        [r["batch"] for r in by_batch],
        [by_batch[0]["us_per_step"] * r["batch"] / by_batch[0]["batch"] for r in by_batch],
        "k--",
        label="in proportion",
    )
    axes[1].set_xlabel("batch")
    axes[1].legend()
    save(figure, "performance-records.svg")
    return "performance-records.svg"


# ---- measuring and writing ----


def measure(build, commands):
    lines = []
    for command in commands:
        print("performance:", " ".join(command), file=sys.stderr, flush=True)
        out = subprocess.run(command, cwd=build, check=True, capture_output=True, text=True).stdout
        for text in out.splitlines():
            line = json.loads(text)
            line["command"] = " ".join(command)
            lines.append(line)
    return lines


def show(value):
    if isinstance(value, float):
        return f"{value:.4g}"
    return "none" if value is None else str(value)


def table(lines, columns):
    yield "| " + " | ".join(c.replace("_", " ") for c in columns) + " |"
    yield "|" + "---|" * len(columns)
    for line in lines:
        yield "| " + " | ".join(show(line.get(c)) for c in columns) + " |"


def page(parts, lines, peers, kept, peers_kept):
    any_line = lines[0]
    yield "# Performance"
    yield ""
    yield (
        f"Written by `make performance`; the lines behind it are `bench/results/{kept}`. Commit {any_line['commit']}, "
        f"{any_line['cpu']}, two cores, {any_line['flags'].split(' -')[0]}. Machines are noisy: compare within a table."
    )
    for part in parts:
        names = {" ".join(c) for c in part.commands}
        rows = [r for r in lines if r["command"] in names]
        if not rows:
            continue
        yield ""
        yield f"## {part.title}"
        yield ""
        yield part.words
        yield "By " + ", ".join(f"`{p}`" for p in sorted({c[0] for c in part.commands})) + "."
        yield ""
        yield from table(list(part.derive(lines)) if part.derive else part.rows(rows), part.columns)
        if part.picture is not None and len(rows) > 4:
            yield ""
            yield f"![{part.title}](figures/{part.picture(rows)})"
    if peers:
        yield ""
        yield "## Beside others"
        yield ""
        yield (
            f"By `make bench-peers`, all in one run: the same work by each library, steps a second and microseconds of processor time a step; lines in "
            f"`bench/results/{peers_kept}`. What each was given is in [evaluation.md](evaluation.md)."
        )
        yield ""
        steps = [r for r in peers if "steps_per_second" in r]
        yield from table(steps, ["model", "private", "who", "threads", "steps_per_second", "cpu_us_per_step"])
        yield ""
        yield "Ratios are medians over rounds."
        yield ""
        yield "| | ratio |"
        yield "|---|---|"
        for ratios in (r for r in peers if "steps_per_second" not in r):
            for name, value in ratios.items():
                if " over " in name:
                    yield f"| {name} | {show(value)} |"


def with_kept(text, before):
    """The page with the sections of the one before that it has not, each behind the one that it followed."""
    sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    heads = [s.split("\n")[0] for s in sections]
    last = heads[0]
    for section in re.split(r"^(?=## )", before, flags=re.MULTILINE):
        head = section.split("\n")[0]
        if head not in heads:
            at = heads.index(last) + 1
            heads.insert(at, head)
            sections[at - 1] = sections[at - 1].rstrip("\n") + "\n\n"
            sections.insert(at, section)
        last = head
    return "".join(sections).rstrip("\n") + "\n"


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--build", default=".")
    ask.add_argument("--from", dest="earlier")
    ask.add_argument("--peers")
    ask.add_argument("--quick", action="store_true")
    ask = ask.parse_args()
    matplotlib.rcParams["svg.hashsalt"] = "tacit"
    parts = sections(ask.quick)
    if ask.earlier:
        kept = pathlib.Path(ask.earlier).name
        lines = [json.loads(text) for text in open(ask.earlier, encoding="utf-8")]
        lines = [r for r in lines if "command" in r]
    else:
        lines = [line for part in parts for line in measure(ask.build, part.commands)]
        kept = f"{datetime.date.today()}-{lines[0]['commit']}.json"
        with open(ROOT / "bench" / "results" / kept, "w", encoding="utf-8") as out:
            out.writelines(json.dumps(line) + "\n" for line in lines)
    peers = [json.loads(text) for text in open(ask.peers, encoding="utf-8")] if ask.peers else []
    path = ROOT / "doc" / "performance.md"
    text = "\n".join(page(parts, lines, peers, kept, pathlib.Path(ask.peers or "").name)) + "\n"
    path.write_text(with_kept(text, path.read_text(encoding="utf-8")), encoding="utf-8")


main()
