"""Reads the file of a fit without Tacit: draws of the posterior as numpy arrays or ArviZ's InferenceData.

    import tacit_fit
    fit = tacit_fit.read("use.fit")             # numpy is needed
    fit.draws["b_age"].mean(), fit.privacy["epsilon"], fit.checks
    idata = tacit_fit.to_inference_data(fit)    # arviz, too

Only fits that keep draws have them here, as those of tacit fit do; tacit export writes those of a guide.  Latents
are read as they are kept, in the order of the file; what a formula computes of them, such as b_age, is computed from
the model in the file.  What needs an operation that is not known here is left out with a warning.  As a program it
prints means and standard deviations: python3 tacit_fit.py use.fit.  doc/format.md is the form of the file."""
import hashlib
import math
import struct
import sys
import warnings

NONE = 2**64 - 1  # the length of a text that is not there
FIELDS = (1, 1, 4, 4, 1, None, 1, 1, 1, 1, 2, 2, 2, 2, 2)  # elements; None: as many as the shape says


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        if self.at + n > len(self.data):
            raise ValueError("the file ends too soon")
        self.at += n
        return self.data[self.at - n : self.at]

    def number(self):
        return struct.unpack("<Q", self.take(8))[0]

    def signed(self):
        return struct.unpack("<q", self.take(8))[0]

    def real(self):
        return struct.unpack("<d", self.take(8))[0]

    def text(self):
        length = self.number()
        if length == NONE:
            return None
        text = self.take(length).decode("utf-8", "replace")
        self.take(-length % 8)
        return text


def sections(data):
    magic, version, size, count = struct.unpack("<8s3Q", data[:32].ljust(32, b"\0"))
    if len(data) < 64 or magic != b"tacitfit" or version != 1:
        raise ValueError("this is no fit of Tacit, or of another version of the format")
    digest = hashlib.blake2b(data[:32] + data[64:], digest_size=32).digest()
    if size != len(data) or digest != data[32:64]:
        raise ValueError("the file is damaged")
    for k in range(count):
        name, offset, length = struct.unpack("<32s2Q16x", data[64 * (k + 1) : 64 * (k + 2)])
        yield name.rstrip(b"\0").decode(), data[offset : offset + length]


def named(names):
    """Name, shape, and the places of the numbers, of each block of parameters or latent."""
    for _ in range(names.number()):
        name, first = names.text(), names.number()
        shape = [names.number() for _ in range(names.number())]
        yield name, shape, range(first, first + math.prod(shape))


def reals(data):
    return struct.unpack(f"<{len(data) // 8}d", data)


class Fit:
    """privacy, checks, source: what the file tells; draws: name -> array [draws, ...]; groups: name ->
    (column, levels)."""

    def __init__(self):
        self.privacy, self.checks, self.source, self.draws, self.groups = {}, [], {}, {}, {}


def read_privacy(r):
    told = {"private": bool(r.number())}
    for name in ("why_not_private", "warning", "adjacency"):
        told[name] = r.text()
    for name in ("epsilon", "delta"):
        told[name] = r.real()
    return {name: value for name, value in told.items() if value is not None and value == value}


def read_checks(r):
    checks = []
    for _ in range(r.number()):
        name, _value, _limit, bad, words = r.text(), r.real(), r.real(), r.number(), r.text()
        checks.append(f"{'BAD' if bad else 'good'} {name}: {words}")
    return checks


def read_source(r):
    told = {name: r.text() for name in ("formula", "family", "priors")}
    told["schema"] = "\n".join(r.text() for _ in range(r.number()))
    return {name: value for name, value in told.items() if value is not None}


def read_model(r):
    """Nodes (operation, inputs, per record, shape, attributes) and sites (kind, name, node)."""
    _magic, _version, _guide, n_plates, n_nodes, n_sites = (r.number() for _ in range(6))
    for _ in range(n_plates):
        r.text(), r.number()
    nodes, sites = [], []
    for _ in range(n_nodes):
        operation = r.text()
        r.text(), r.text(), r.number()
        inputs = [i for i in (r.signed(), r.signed()) if i >= 0]
        per_record, n_dims = r.number(), r.number()
        shape = [(r.number(), r.signed())[0] for _ in range(n_dims)]
        fields, given = r.number(), {}
        for bit, count in enumerate(FIELDS):
            if fields >> bit & 1:
                given[bit] = r.take(8 * (math.prod(shape) if count is None else count))
        nodes.append((operation, inputs, per_record, shape, given))
    for _ in range(n_sites):
        kind, name = r.text(), r.text()
        r.text(), r.number()
        node = r.number()
        r.text()
        for _ in range(r.number()):
            r.number()
        r.take(32)
        sites.append((kind, name, node))
    return nodes, sites


def evaluate(node, nodes, known, n):
    """Values [draws, ...] of a node, or KeyError with the operation that is not known."""
    import numpy as np

    if node in known:
        return known[node]
    operation, inputs, per_record, shape, given = nodes[node]
    if per_record:
        raise KeyError("a value of records")
    whole = {k: struct.unpack("<Q", v)[0] for k, v in given.items() if k in (6, 7, 8, 9)}
    if operation == "const":
        numbers = np.frombuffer(given.get(5, given.get(4, bytes(8))), "<f8")
        value = np.broadcast_to(np.resize(numbers, shape), [n] + shape)
    else:
        value = compute(operation, [evaluate(i, nodes, known, n) for i in inputs], shape, whole, n)
    known[node] = value
    return value


def compute(operation, given, shape, whole, n):
    import numpy as np

    most = max(x.ndim for x in given) if given else 0
    lined = [x.reshape((n,) + (1,) * (most - x.ndim) + x.shape[1:]) for x in given]
    elementwise = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "sqrt": np.sqrt,
                   "square": np.square, "exp": np.exp, "log": np.log, "neg": np.negative, "tanh": np.tanh}
    if operation in elementwise:
        return elementwise[operation](*lined).reshape([n] + shape)
    if operation == "slice" and given[0].ndim == 2:
        first = whole.get(6, 0)
        return given[0][:, first : first + whole[7]].reshape([n] + shape)
    if operation == "matmul" and shape == []:
        return (given[0].reshape(n, -1) * given[1].reshape(n, -1)).sum(1)
    raise KeyError(f"the operation {operation}")


def levels_of(name, size, schema):
    """Column and levels of the groups that "r_<column>__<effect>" belongs to, or None."""
    for line in schema.split("\n"):
        word = line.split()
        if '"' in line or len(word) < 3 or not name.startswith(f"r_{word[0]}__"):
            continue
        levels = []
        if word[1] == "integer" and len(word) > 4:
            levels = list(range(int(word[2]), int(word[4]) + 1))
        elif word[1] == "level":
            levels = word[2:]
        if len(levels) == size:
            return word[0], levels
    return None


def add_computed(fit, found, n, everything):
    nodes, sites = read_model(Reader(found["model"]))
    known = {node: fit.draws[name] for kind, name, node in sites if kind == "latent" and name in fit.draws}
    for kind, name, node in sites:
        if kind == "deterministic" and not nodes[node][2]:
            try:
                fit.draws[name] = evaluate(node, nodes, known, n)
            except KeyError as missing:
                warnings.warn(f"{name} is left out: it needs {missing.args[0]}; tacit export has it")
    if fit.source and not everything:
        fit.draws = {name: x for name, x in fit.draws.items() if not name.startswith("scaled.")}


def read(path, everything=False):
    """The Fit in a file.  `everything` keeps a formula's latents of unit size, scaled.<name>, too."""
    import numpy as np

    with open(path, "rb") as file:
        found = dict(sections(file.read()))
    fit = Fit()
    fit.privacy = read_privacy(Reader(found["privacy"]))
    if "diagnostics" in found:
        fit.checks = read_checks(Reader(found["diagnostics"]))
    if "source" in found:
        fit.source = read_source(Reader(found["source"]))
    if "draws" not in found:
        raise ValueError("the fit keeps no draws; tacit export draws from its guide")
    names = Reader(found["latents"])
    n, size = names.number(), names.number()
    values = np.frombuffer(found["draws"], "<f8").reshape(n, size)
    for name, shape, places in named(names):
        fit.draws[name] = values[:, places.start : places.stop].reshape([n] + shape)
    add_computed(fit, found, n, everything)
    for name, x in fit.draws.items():
        levels = levels_of(name, x.shape[1], fit.source.get("schema", "")) if x.ndim == 2 else None
        if levels is not None:
            fit.groups[name] = levels
    return fit


def to_inference_data(fit):
    """ArviZ's InferenceData with the group posterior, of one chain: the file does not tell chains apart."""
    import arviz

    taken = {"chain", "draw", *fit.draws}
    title = {column: column + "_2" * (column in taken) for column, _levels in fit.groups.values()}
    dims = {name: [title[column]] for name, (column, _levels) in fit.groups.items()}
    coords = {title[column]: levels for column, levels in fit.groups.values()}
    told = {"inference_library": "tacit", **fit.source, **fit.privacy, "checks": "\n".join(fit.checks)}
    told["private"] = "true" if fit.privacy["private"] else "false"
    return arviz.from_dict(posterior={name: x[None] for name, x in fit.draws.items()}, dims=dims, coords=coords,
                           posterior_attrs=told)


def main(path):
    for name, x in read(path).draws.items():
        for k, (mean, sd) in enumerate(zip(x.mean(0).ravel(), x.std(0, ddof=1).ravel())):
            print(f"{name}{f'[{k}]' if x[0].size > 1 else ''} {mean!s} {sd!s}")


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: tacit_fit.py FILE")
    try:
        main(sys.argv[1])
    except (OSError, ValueError, KeyError, IndexError, struct.error) as error:
        sys.exit(f"tacit_fit: {sys.argv[1]}: {error}")
