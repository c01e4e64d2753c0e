#!/usr/bin/env python3
"""Random networks: what `tacit program run` computes of their ONNX files beside onnxruntime.

  onnx-random.py TACIT [NETWORKS] [SEED]

Speaks TAP, and skips with a word where python has no onnx or onnxruntime.  Scores in real numbers
agree to float32's rounding.  Those of the integers agree within 2^-6 of the largest score of the
network's records: 16 bits for weights and 20 for activations leave 2^-15 a stage, a sigmoid's or
tanh's table 2^-9, and neither grows by more than 4 in a stage of weights that are divided by the
square root of their number; there are at most 5 stages of tables.  Linear stages never round, so that
where several follow each other 62 bits may not hold them: then fewer bits are taken and real numbers
alone are compared, and a network that 2 and 6 bits do not hold either is counted as refused.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    print(f"1..0 # SKIP python has no {missing.name}")
    sys.exit(0)

RECORDS = 8
BITS = [(16, 20), (8, 12), (4, 8), (2, 6)]  # of weights and activations


class Net:
    def __init__(self, rng):
        self.rng, self.nodes, self.constants, self.names = rng, [], [], 0

    def name(self):
        self.names += 1
        return f"v{self.names}"

    def constant(self, array):
        name = self.name()
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def numbers(self, *shape, scale=1.0):
        return self.constant((scale * self.rng.uniform(-1, 1, shape)).astype(np.float32))

    def add(self, op, *inputs, **attributes):
        out = self.name()
        self.nodes.append(helper.make_node(op, list(inputs), [out], **attributes))
        return out


def activation(net, x):
    return net.add(net.rng.choice(["Relu", "Relu", "Sigmoid", "Tanh"]), x)


def affine(net, x, shape):
    """A scale or a shift by a number or by channels, or a batch normalisation."""
    rng, c = net.rng, shape[0]
    rest = [1] * (len(shape) - 1)
    kind = rng.integers(4)
    if kind == 0:
        return net.add(rng.choice(["Add", "Sub"]), x, net.numbers(c, *rest))
    if kind == 1:
        return net.add("Mul", x, net.numbers(c, *rest))
    if kind == 2:
        return net.add("Div", x, net.constant(np.float32(rng.uniform(1, 3))))
    low = [rng.uniform(*r, c).astype(np.float32) for r in [(-1, 1), (-1, 1), (-1, 1), (0.5, 2)]]
    return net.add("BatchNormalization", x, *[net.constant(v) for v in low], epsilon=0.01)


def stops(side, size, stride, pad):
    return (side + 2 * pad - size) // stride + 1


def convolve(net, x, shape):
    rng, (c, h, w) = net.rng, shape
    k = [int(rng.integers(1, min(3, side) + 1)) for side in (h, w)]
    s = [int(rng.integers(1, 3)) for _ in range(2)]
    p = [int(rng.integers(0, side)) for side in k]
    o = int(rng.integers(1, 5))
    attributes = {"kernel_shape": k, "strides": s, "pads": p + p}
    if rng.integers(4) == 0 and k[0] % 2 and k[1] % 2:
        attributes = {"auto_pad": "SAME_UPPER"}
        s, p = [1, 1], [side // 2 for side in k]
    inputs = [x, net.numbers(o, c, *k, scale=2 / (c * k[0] * k[1]) ** 0.5)]
    if rng.integers(2):
        inputs.append(net.numbers(o))
    return net.add("Conv", *inputs, **attributes), (o, stops(h, k[0], s[0], p[0]),
                                                    stops(w, k[1], s[1], p[1]))


def pool(net, x, shape):
    rng, (c, h, w) = net.rng, shape
    if rng.integers(5) == 0:
        return net.add("GlobalAveragePool", x), (c, 1, 1)
    k = [int(rng.integers(1, min(3, side) + 1)) for side in (h, w)]
    s = [int(rng.integers(1, 3)) for _ in range(2)]
    p = [int(rng.integers(0, (side + 1) // 2)) for side in k]
    attributes = {"kernel_shape": k, "strides": s, "pads": p + p}
    op = rng.choice(["MaxPool", "AveragePool"])
    if op == "AveragePool":
        attributes["count_include_pad"] = 1
    return net.add(op, x, **attributes), (c, stops(h, k[0], s[0], p[0]), stops(w, k[1], s[1], p[1]))


def dense(net, x, n):
    rng, o = net.rng, int(net.rng.integers(2, 9))
    scale = 2 / n**0.5
    if rng.integers(2):
        x = net.add("MatMul", x, net.numbers(n, o, scale=scale))
        return (net.add("Add", x, net.numbers(o)) if rng.integers(2) else x), o
    return net.add("Gemm", x, net.numbers(o, n, scale=scale), net.numbers(o), transB=1,
                   alpha=float(rng.uniform(0.5, 1)), beta=float(rng.uniform(-1, 1))), o


def residual(net, x, c):
    """x beside a convolution or layer of it of the same shape."""
    y = net.add("Conv", activation(net, x), net.numbers(c, c, 3, 3, scale=2 / (9 * c) ** 0.5),
                auto_pad="SAME_LOWER")
    return net.add(net.rng.choice(["Add", "Sub"]), x, y)


def build(rng):
    net, x = Net(rng), "x"
    image = rng.integers(3) > 0
    shape = (tuple(int(v) for v in rng.integers([1, 3, 3], [4, 9, 9])) if image
             else (int(rng.integers(1, 13)),))
    declared, n = shape, int(np.prod(shape))
    if image and rng.integers(3) == 0:  # comes flat, and is made an image
        declared = (n,)
        x = net.add("Reshape", x, net.constant(np.array([-1, *shape], np.int64)))
    for _ in range(int(rng.integers(1, 5)) if image else 0):
        kind = rng.integers(6)
        if kind < 2:
            x, shape = convolve(net, x, shape)
        elif kind == 2:
            x, shape = pool(net, x, shape)
        elif kind == 3:
            x = affine(net, x, shape)
        elif kind == 4:
            x = activation(net, x)
        else:
            x = residual(net, x, shape[0])
    if image:
        n = int(np.prod(shape))
        x = (net.add("Flatten", x) if rng.integers(2)
             else net.add("Reshape", x, net.constant(np.array([1, -1], np.int64))))
    for _ in range(int(rng.integers(1, 4))):
        x, n = dense(net, x, n)
        if rng.integers(3):
            x = activation(net, x) if rng.integers(2) else affine(net, x, (n,))
    x, n = dense(net, x, n)
    graph = helper.make_graph(
        net.nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, *declared])],
        [helper.make_tensor_value_info(x, TensorProto.FLOAT, [1, n])], net.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), declared


def run(tacit, files, bits, *options):
    done = subprocess.run([tacit, "program", "run", str(files[0]), "--range", "-1,1", "--data",
                           str(files[1]), "--weight-bits", str(bits[0]), "--activation-bits",
                           str(bits[1]), "--json", *options],
                          capture_output=True, text=True, check=False)
    return (np.array(json.loads(done.stdout)["scores"]) if done.returncode == 0
            else done.stderr.strip())


def scores(tacit, files):
    """Scores in real numbers, or why there are none, and those of the integers, or None."""
    for bits in BITS:
        real = run(tacit, files, bits)
        if not isinstance(real, str):
            return real, run(tacit, files, bits, "--exact") if bits == BITS[0] else None
        if "no scale fits" not in real and "can need more than" not in real:
            break
    return real, None


def main():
    tacit, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 20261123
    worst_real = worst_exact = 0.0
    nodes = failed = refused = exact_runs = 0
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / "net.onnx", Path(folder) / "x.npy"]
        for k in range(count):
            rng = np.random.default_rng([seed, k])
            model, shape = build(rng)
            onnx.checker.check_model(model)
            onnx.save(model, files[0])
            x = rng.uniform(-1, 1, (RECORDS, *shape)).astype(np.float32)
            np.save(files[1], x.reshape(RECORDS, -1).astype(np.float64))
            session = onnxruntime.InferenceSession(model.SerializeToString(),
                                                   providers=["CPUExecutionProvider"])
            wanted = np.vstack([session.run(None, {"x": r[None]})[0] for r in x])
            real, exact = scores(tacit, files)
            nodes += len(model.graph.node)
            if isinstance(real, str):
                print(f"# network {k}: {real}")
                known = ["one by one", "pixel by pixel", "no scale fits", "can need more than"]
                refused += 1
                failed += not any(why in real for why in known)
                continue
            size = max(1.0, np.abs(wanted).max())
            real = np.abs(real - wanted).max() / size
            exact_runs += exact is not None
            exact = np.abs(exact - wanted).max() / size if exact is not None else 0.0
            worst_real, worst_exact = max(worst_real, real), max(worst_exact, exact)
            if real > 1e-5 or exact > 2**-6:
                print(f"# network {k}: off by {real:.3g} in reals, {exact:.3g} in integers")
                failed += 1
    print(f"# {count} networks of {nodes} nodes, {refused} refused; of the largest score, reals "
          f"are off by at most {worst_real:.3g}, integers ({exact_runs}) by {worst_exact:.3g}")
    failed += refused > count / 10
    print("ok" if failed == 0 else "not ok", "1 - random networks agree with onnxruntime")
    print("1..1")
    return failed > 0


sys.exit(main())
