#!/usr/bin/python3
"""Tables of doc/serving.md from lines of bench/serve-accuracy and bench/serve-scale: bench/served.py FILE...

Lines of one model and epsilon, of several folds, become one row: accuracies are means over folds, counts are sums.
Lines of one model, epsilon and fold, which asked by several protocols, are taken together first; of one protocol the last line counts."""
import json
import sys


def rows_of(lines, *keys):
    """Lines with the same keys together, in the order of the first ones."""
    rows = {}
    for line in lines:
        rows.setdefault(tuple(line[key] for key in keys), []).append(line)
    return rows.values()


def mean(row, field):
    return sum(line[field] for line in row) / len(row)


def percent(share):
    return f'{100 * share:.2f}'


def served(row, protocol):
    if any(f'{protocol}_asked' not in line for line in row):
        return ''
    asked, equal, differ = (sum(int(line[f'{protocol}_{what}']) for line in row) for what in ('asked', 'equal', 'classes_differ'))
    if asked == 0:
        return '-'
    return f'{asked}' if equal == asked and differ == 0 else f'{asked}, EQUAL {equal}, OTHER CLASS {differ}'


def joined(lines):
    """One line for each model, epsilon and fold."""
    whole = {}
    for line in lines:
        key = line['model'], line['epsilon'], line.get('fold', 0)
        before = whole.get(key, {})
        if before.get('accuracy_exact', line['accuracy_exact']) != line['accuracy_exact']:
            sys.exit(f'{key}: lines of different fits')
        whole[key] = before | line | {'hopeless': before.get('hopeless') or line.get('hopeless')}
    return list(whole.values())


def accuracy(lines):
    print('| model | layers | test records | epsilon | commonest | real | integers | differ | lattice | Paillier | Trio | Quad |')
    print('|---|---|---|---|---|---|---|---|---|---|---|---|')
    for row in rows_of(joined(lines), 'model', 'epsilon'):
        first = row[0]
        epsilon = 'none' if first['epsilon'] is None else f'{first["epsilon"]:g}'
        if any(line.get('hopeless') for line in row):
            epsilon += ' (refused)'
        print(f'| {first["model"]} | {first["form"]} | {sum(int(line["test"]) for line in row)} | {epsilon} '
              f'| {percent(mean(row, "commonest"))} | {percent(mean(row, "accuracy_real"))} | {percent(mean(row, "accuracy_exact"))} '
              f'| {sum(int(line["classes_differ"]) for line in row)} | {served(row, "lattice")} | {served(row, "paillier")} '
              f'| {served(row, "trio")} | {served(row, "quad")} |')


def rounding(lines):
    """Of models whose shifts round by chance; distances in units of the answer, and what they are of the bound."""
    print('| model | epsilon | protocol | records | numbers shifted | another class | farthest off | of the bound | wrong | wrong at most |')
    print('|---|---|---|---|---|---|---|---|---|---|')
    for line in lines:
        epsilon = 'none' if line['epsilon'] is None else f'{line["epsilon"]:g}'
        for protocol in 'trio', 'quad':
            if not line.get(f'{protocol}_asked'):
                continue
            asked, differ, far, wrong = (line[f'{protocol}_{what}'] for what in ('asked', 'classes_differ', 'farthest', 'wrong'))
            print(f'| {line["model"]} | {epsilon} | {protocol} | {asked} | {line["shifted"] * asked:.3g} | {differ} '
                  f'| {far * line["last_place"]:.2g} ({far}) | {percent(far / line["off_at_most"])} % | {wrong} '
                  f'| {line["wrong_at_most"] * asked / line["test"]:.2g} |')


def scale(lines):
    print('| model | | 10^0 | 10^1 | 10^2 | 10^3 | 10^4 | 10^5 | 10^6 | real |')
    print('|---|---|---|---|---|---|---|---|---|---|')
    for row in rows_of(lines, 'model'):
        chosen = int(row[0]['chosen'])
        cells = [f'**{percent(line["accuracy_decimals"])}**' if line['decimals'] == chosen else percent(line['accuracy_decimals'])
                 for line in row]
        print(f'| {row[0]["model"]} | decimals | {" | ".join(cells)} | {percent(row[0]["accuracy"])} |')
        cells = [f'{percent(line["accuracy_exact"])} ({line["weight_bits"]})' for line in row]
        print(f'| | integers (bits) | {" | ".join(cells)} | |')


def latency(lines):
    print('| model | ms | 10^0 | 10^1 | 10^2 | 10^3 | 10^4 | 10^5 | 10^6 | 10^6 to 10^0 |')
    print('|---|---|---|---|---|---|---|---|---|---|')
    for row in rows_of(lines, 'model'):
        for protocol in 'paillier', 'lattice':
            for kind, words in ('ms', 'median'), ('ms_low', 'least'), ('work_ms', 'work'):
                times = [line[f'{protocol}_{kind}'] for line in row]
                ratio = '' if None in (times[0], times[-1]) else f'{100 * times[-1] / times[0] - 100:+.0f} %'
                cells = ['-' if t is None else f'{t:.3g}' for t in times]
                print(f'| {row[0]["model"]} | {protocol}, {words} | {" | ".join(cells)} | {ratio} |')


def main():
    lines = [json.loads(line) for name in sys.argv[1:] for line in open(name, encoding='utf-8')]
    accurate = [line for line in lines if 'accuracy_fit' in line and 'shifted' not in line]
    rounded = [line for line in lines if 'shifted' in line]
    scaled = [line for line in lines if 'decimals' in line]
    if accurate:
        accuracy(accurate)
    if rounded:
        print()
        rounding(rounded)
    if scaled:
        print()
        scale(scaled)
        print()
        latency([line for line in scaled if line['paillier_ms'] is not None or line['lattice_ms'] is not None])


main()
