#!/usr/bin/python3
"""Writes doc/scale-out.md and its pictures from what bench/scale-out prints.

    make scale-out              in the build folder: builds the program, runs it, writes
    bench/scale-out.py --build DIR [--from FILE]

--from takes the lines of an earlier run; those of bench/ranks are the newest kept.  They are kept as bench/results/<date>-<commit>-scale-out.jsonl,
and the page names that file.  Needs python3-matplotlib."""

import argparse
import datetime
import json
import pathlib
import subprocess
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("scale-out.py draws with matplotlib: apt-get install python3-matplotlib")

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend comes first)

ROOT = pathlib.Path(__file__).resolve().parent.parent
NETWORKS = ["ResNet-18", "ResNet-50", "BERT-base", "OPT-6.7B"]
STYLES = ["o-", "s-", "^-", "d-"]


def table(head, rows):
    """Rows of words and numbers."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def digits(x, n=4):
    return f"{x:.{n}g}" if abs(x) < 10 ** (n - 1) else f"{x:.0f}"


def percent(x):
    return f"{100 * x:.1f} %"


# ---- pictures ----


def save(figure, name):
    figure.tight_layout()
    figure.savefig(ROOT / "doc" / "figures" / name, metadata={"Date": None})
    plt.close(figure)


def draw_curves(of):
    """Speed-up, and the share of messages, by cards."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.8))
    for network, style in zip(NETWORKS, STYLES):
        rows = [r for r in of["figure-9"] if r["network"] == network]
        cards = [r["cards"] for r in rows]
        axes[0].loglog(cards, [r["speedup"] for r in rows], style, label=network, base=2)
        axes[1].semilogx(cards, [100 * r["messages"] for r in rows], style, label=network, base=2)
    axes[0].loglog(cards, cards, "k:", base=2)
    for (network, style), column in zip(zip(NETWORKS, STYLES), "0123"):
        row = next(r for r in of["table-2"] if r["network"] == network)
        points = [row["hydra_one"] / row["hydra_8"], row["hydra_one"] / row["hydra_64"]]
        axes[0].plot([8, 64], points, "C" + column + "x", markersize=9)
    for axis, label in zip(axes, ("times as fast as one card; x: Hydra", "% that messages add")):
        axis.set_xticks([1, 2, 4, 8, 16, 32, 64], [1, 2, 4, 8, 16, 32, 64])
        axis.set_xlabel("cards")
        axis.set_ylabel(label)
    axes[0].set_yticks([1, 2, 4, 8, 16, 32, 64], [1, 2, 4, 8, 16, 32, 64])
    axes[0].legend()
    save(figure, "scale-out-curves.svg")


def draw_procedures(of):
    """What scales and what does not."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
    for axis, network in zip(axes, ("ResNet-18", "OPT-6.7B")):
        rows = [r for r in of["figure-9"] if r["network"] == network]
        for key, label, style in (("work", "convolutions, matrices", "o-"), ("boot", "bootstraps", "s-"), ("signs", "polynomials", "^-")):
            axis.loglog([r["cards"] for r in rows], [r[key] for r in rows], style, label=label, base=2)
        axis.set_xticks([1, 2, 4, 8, 16, 32, 64], [1, 2, 4, 8, 16, 32, 64])
        axis.set_yticks([1, 2, 4, 8, 16, 32, 64], [1, 2, 4, 8, 16, 32, 64])
        axis.set_title(network)
        axis.set_xlabel("cards")
    axes[0].set_ylabel("times as fast as one card")
    axes[0].legend()
    save(figure, "scale-out-procedures.svg")


# ---- the page ----

HEAD = """# Many cards: Hydra's figures beside ours

Written by `make scale-out` (`bench/scale-out`, simulated seconds); the lines behind it are `bench/results/{kept}`, commit {commit}. What is simulated, and how, is in [design/cluster.md](design/cluster.md): plans, step by step, of what each card computes and sends.
But for plans that were run, below, nothing here is measured, and nothing is encrypted; SimGrid, another simulator, tells the same times of such plans on up to 8 cards (`tests/cluster/t-simgrid`).

Hydra ("Scale-out FHE Accelerator Architecture") is a design of FPGA cards on a switch, S, M and L of 1, 8 and 64 of them. Absolute seconds are those of its hardware; what can be asked of a plan is how they change with the cards.

**What is assumed.** In rotations at the top level: products 1, products with plaintexts and sums .02, a message of a ciphertext .7 (those at which Hydra's table V follows), all falling by a fortieth a level. Bootstrapping: the modulus raised, a DFT in three matrices, a polynomial of degree 59, two doublings, a DFT back. A ciphertext then goes through four polynomials of degree 15, as Hydra's table I has four such units of each.
Ciphertexts of an activation: of ResNets channels times height times width over 2^15, up to a power of two; 12 of BERT and 18 of OPT, four times a layer (our guess: Hydra does not list them). Everything else is work that splits evenly, and how much of it there is is the one number that is fitted, for each network, to Hydra's time on 64 cards. A switch copies broadcasts; steps of one procedure end before the next begins, as in Hydra.
"""

CONTRADICTIONS = """## Where Hydra's words and tables do not agree

Targets are taken from tables.

- M over S is said to be 6.3 to 7.5 times: table II has 6.40 to 7.91. 12 to 21 times over 8 FAB cards: 12.7 to 22.2. 2.8 to 3.1 over one: 2.82 to 3.28. 2.8 to 3.3 over FAB-M: up to 3.37. 88 to 160 times over FAB for language models: 88.5 is ResNet-18; they are 94.3 and 161.1.
- EDAP of L on OPT is said to beat ARK by 75 and SHARP by 12.2 times: table III has 7.53 and 1.19. It is said to beat all but SHARP: on ResNet-18 ARK is better (.54 and .59).
- That FAB-M lags is put down to communication: single cards already differ by 3.20, 3.28, 2.82, 2.88, and speed-ups on 8 cards by 6 % at the most.
- Equation 1 lacks the sums of received parts, and giant steps are not rounded up.
- Seconds of table II do not follow from units of table I at one price: OPT takes 38.9 times as long as BERT, with about 4.2 times the units. Nor can each unit's result be broadcast: {broadcast}

## What is not reproduced

- Seconds, area, energy and EDAP of FPGAs, and the rows of ASICs, which come from other papers' simulators.
- Whole networks under encryption: these are plans.
- BERT and OPT on 8 cards: {bert} and {opt} of Hydra's time, more than the 2 % of ResNets. Their ciphertexts are a guess, and one more free number would hide that.
- 40 times for OPT's bootstraps on 64 cards: 18 ciphertexts are not split so far by any plan here ({optboot} times).
- Table V for 64 cards: Hydra's are {gap} from the best of the same equation at the most, and no reading of it tried makes all of them the best.
"""


def rows_of(of, figure, **want):
    return [r for r in of[figure] if all(r[k] == v for k, v in want.items())]


def table_2(of):
    rows = []
    for r in of["table-2"]:
        rows.append([r["network"], r["hydra_one"], r["hydra_64"], r["hydra_8"], digits(r["ours_8"]), f"{r['ratio']:.3f}", f"{r['hydra_one'] / 8 / r['hydra_8']:.3f}", percent(r["by_ciphertexts"]), f"{r['rotation_ms']:.2f}"])
    return [
        "## Table II: seconds",
        "",
        "Fitted to 1 and 64 cards; 8 cards follow. The last column is what a rotation would take on Hydra's card: both ResNets, fitted apart, say nearly the same. Those of BERT and OPT depend on how often a layer's ciphertexts are taken to be bootstrapped. An eighth of one card's time, with nothing simulated, is near enough for ResNet-50 and OPT: ResNet-18 and the agreement of both ResNets are the test.",
        "",
        *table(["network", "Hydra, 1", "Hydra, 64", "Hydra, 8", "ours, 8", "ratio", "an eighth of one card's", "of one card's time by ciphertexts", "ms a rotation"], rows),
        "",
    ]


def figure_9(of):
    cards = [1, 2, 4, 8, 16, 32, 64]
    rows = []
    for network in NETWORKS:
        of_it = rows_of(of, "figure-9", network=network)
        rows.append([network] + [f"{r['speedup']:.2f} ({percent(r['messages'])})" for r in of_it])
    return [
        "## Figure 9: speed-up from 1 to 64 cards",
        "",
        "In brackets what of the time is there for messages alone. Hydra states .04 % and 1.4 % for OPT on 8 and 64 cards.",
        "",
        *table(["network"] + [str(c) for c in cards], rows),
        "",
        "![speed-ups, and shares of messages](figures/scale-out-curves.svg)",
        "",
    ]


def figure_6(of):
    opt = boot_of_opt(of)
    rows = [[r["procedure"], r["network"], f"{r['on_8']:.2f}", f"{r['on_64']:.1f}"] for r in of["figure-6"]]
    return [
        "## Figure 6: procedures",
        "",
        "Hydra: convolutions above 7 times on 8 cards and 50 on 64, ReLU and FC above 7 on 8, FC above 50 on 64, pooling and bootstraps above 5 on 8; OPT's bootstraps up to 7 and 40 (here " + f"{opt['on_8']:.0f} and {opt['on_64']:.0f}" + "). `work` is convolutions and products of matrices, `signs` the polynomials, with the broadcast of what they make. These reach 7 on no network: ciphertexts of an activation are fewer than cards, or do not fill them, and a polynomial of degree 15 hardly splits. "
        "Pooling: 64 units that make 8 ciphertexts; FC: 1511 that make one.",
        "",
        *table(["procedure", "network", "on 8", "on 64"], rows),
        "",
        "![speed-ups of procedures](figures/scale-out-procedures.svg)",
        "",
    ]


def figure_8(of):
    rows = [
        [r["network"], r["cards_of"], int(r["cards"]), f"{r['speedup']:.2f}", "" if r["fab"] is None else f"{r['fab']:.2f}", f"{r['hydra']:.2f}", f"{r['of_switch']:.2f}"]
        + [percent(r[k]) for k in ("messages", "messages_boot", "messages_pooling")]
        for r in of["figure-8"]
    ]
    return [
        "## Figure 8: messages through hosts",
        "",
        "FAB's cards send by their host (16 GB/s), hosts of eight cards by 10 Gb/s, trees instead of copies, plans as for the switch. With cards of FAB's own speed 8 of them lose up to 2 % to the switch; with cards three times as fast, as Hydra's, 12 % on ResNet-18. On 64 cards messages take over: Hydra's figure has up to 90 % of bootstraps and pooling.",
        "",
        *table(["network", "cards as", "cards", "speed-up", "FAB's", "Hydra's", "times the switch's time", "messages", "of bootstraps", "of pooling"], rows),
        "",
    ]


def last_rounds(of):
    rows = []
    for network, cards in (("BERT-base", 8), ("OPT-6.7B", 4), ("OPT-6.7B", 8), ("OPT-6.7B", 16)):
        of_it = {r["rest"]: r for r in rows_of(of, "last-rounds", network=network, cards=cards)}
        rows.append([network, cards] + [f"{of_it[k]['speedup']:.2f}" for k in ("alone", "regrouped", "filled")] + [percent(1 - of_it["filled"]["of_alone"])])
    return [
        "## A last round that does not fill the cards",
        "",
        "BERT's 12 ciphertexts take two rounds on 8 cards. Alone, as Hydra has them: four cards wait. Regrouped: each of the last four on two cards. Filled: cards without one begin with the next product of matrices, as far as it needs the first eight alone, and have more of it, so that all end together.",
        "",
        *table(["network", "cards", "alone", "regrouped", "filled", "saved by filling"], rows),
        "",
    ]


def table_1(of):
    names = ("rotations", "products", "times", "sums")
    rows = [[r["procedure"]] + [f"{r['hydra_' + k]:g} / {r[k]:.3g}" for k in names] for r in of["table-1"]]
    return [
        "## Table I: operations of a unit",
        "",
        "Hydra's / ours, counted in plans. A kernel of 3 by 3 has nine terms, so nine plaintexts and eight sums: two plaintexts cannot make it, unless others are counted elsewhere. A mean of four places needs two sums. By baby steps 2048 diagonals take 94 rotations, not one each. Inner products of 128 places take seven sums beside seven rotations. "
        "Of degree 15 one product less, as T_12 is not made; sums are counted with each number that multiplies a ciphertext.",
        "",
        *table(["procedure", "rotations", "products", "with plaintexts", "sums"], rows),
        "",
    ]


def table_5(of):
    rows = [[int(r["log_slots"]), int(r["cards"]), r["hydra"], r["ours"], f"{r['hydra_over_ours']:.4f}"] for r in of["table-5"]]
    return [
        "## Table V: radices; baby steps",
        "",
        "By equation 1 as read in [design/cluster.md](design/cluster.md). 1: as good as the best, where several are.",
        "",
        *table(["log2 places", "cards", "Hydra", "ours", "Hydra's time over ours"], rows),
        "",
    ]


def groups(of):
    rows = [[int(r["cards"]), f"{r['by_equation']:.2f}", f"{r['dft']:.2f}", r["split"], f"{r['boot']:.2f}"] for r in of["groups"]]
    others = [
        [int(r["cards"]), digits(r["algorithm_1"]), digits(r["fastest"]), f"{r['piece']:g} on {r['cards_used']:g}", f"{r['algorithm_1'] / r['fastest']:.2f}"]
        for r in of["polynomials"]
    ]
    return [
        "## One ciphertext on several cards",
        "",
        "A DFT of 2^15 places by equation 1, and by plans that are simulated and searched; a whole bootstrap.",
        "",
        *table(["cards", "DFT, equation", "DFT, plan", "radices; baby steps", "bootstrap"], rows),
        "",
        "A polynomial of degree 59, in rotations: Hydra's algorithm 1, and the fastest of it and of pieces over cards.",
        "",
        *table(["cards", "algorithm 1", "fastest", "pieces of", "gain"], others),
        "",
    ]


def other_costs(of):
    names = dict.fromkeys(r["costs"] for r in of["other-costs"])
    rows = []
    for name in names:
        of_it = rows_of(of, "other-costs", costs=name)
        rows.append([name] + [f"{r['ratio']:.3f}" for r in of_it] + [f"{of_it[0]['rotation_ms']:.2f}, {of_it[1]['rotation_ms']:.2f}"])
    return [
        "## What this depends on",
        "",
        "Our time on 8 cards over Hydra's, fitted anew with other costs.",
        "",
        *table(["costs"] + NETWORKS + ["ms a rotation, both ResNets"], rows),
        "",
    ]


def runs(_):
    kept = max((ROOT / "bench" / "results").glob("*-ranks.jsonl"), key=lambda path: (path.name[:10], path.stat().st_mtime))
    rows = []
    for line in kept.read_text(encoding="utf-8").splitlines():
        r = json.loads(line)
        rows.append([r["cards"], r["kernels"], r["kernel_s"], r["mib"]] + [f"{r[k]:.2f}" for k in ("computing_s", "sending_s", "both_s", "over_the_larger", "simulated_over_measured")])
    return [
        "## Plans that were run",
        "",
        f"Processes of MPI on one machine of two processors, `make bench/ranks; OMPI_MCA_btl=self,tcp mpirun --oversubscribe -n CARDS bench/ranks KERNELS SECONDS MIB 5` (Open MPI), kept as `bench/results/{kept.name}`. Cards wait instead of computing; messages are real, all results go to all cards. Seconds, and both without one message over the larger of the two alone; the simulator's is told only what computing alone and messages alone took.",
        "",
        *table(["cards", "kernels", "seconds each", "MiB each", "computing alone", "messages alone", "both", "over the larger", "simulated over measured"], rows),
        "",
        "Under encryption a matrix and a polynomial on 1, 2 and 4 processes, and by threads, make the same bits (`tests/cluster/check-scale-out`).",
        "",
    ]


def boot_of_opt(of):
    return next(r for r in of["figure-6"] if r["procedure"] == "boot" and r["network"] == "OPT-6.7B")


def tail(of):
    ratio = {r["network"]: percent(r["ratio"]) for r in of["table-2"]}
    boot = boot_of_opt(of)
    gap = max(r["hydra_over_ours"] for r in of["table-5"]) - 1
    second = 384 * 17 * 20.6e6 / 12.5e9
    words = f"17 layers of 384 units, 20.6 MB each, are {second:.0f} s at 100 Gb/s into each card, and ResNet-18 takes 1.49 s on 64; here results are added up on their cards first."
    return CONTRADICTIONS.format(broadcast=words, bert=ratio["BERT-base"], opt=ratio["OPT-6.7B"], optboot=f"{boot['on_64']:.0f}", gap=percent(gap)).splitlines()


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--build", default=".")
    ask.add_argument("--from", dest="earlier")
    ask = ask.parse_args()
    matplotlib.rcParams["svg.hashsalt"] = "tacit"
    if ask.earlier:
        kept = pathlib.Path(ask.earlier).name
        text = pathlib.Path(ask.earlier).read_text(encoding="utf-8")
    else:
        text = subprocess.run([pathlib.Path(ask.build) / "bench" / "scale-out"], check=True, stdout=subprocess.PIPE, text=True).stdout
    lines = [json.loads(line) for line in text.splitlines()]
    if not ask.earlier:
        kept = f"{datetime.date.today()}-{lines[0]['commit']}-scale-out.jsonl"
        (ROOT / "bench" / "results" / kept).write_text(text, encoding="utf-8")
    of = {}
    for line in lines:
        of.setdefault(line["figure"], []).append(line)
    draw_curves(of)
    draw_procedures(of)
    page = HEAD.format(kept=kept, commit=lines[0]["commit"]).splitlines() + [""]
    for part in (table_2, figure_9, figure_6, figure_8, last_rounds, groups, table_5, table_1, other_costs, runs, tail):
        page += part(of)
    (ROOT / "doc" / "scale-out.md").write_text("\n".join(page) + "\n", encoding="utf-8")


main()
