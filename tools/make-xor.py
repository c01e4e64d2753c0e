#!/usr/bin/env python3
"""Writes examples/data/xor.onnx, a network of two layers that tells whether one of two numbers of
0 ... 1, and not both, is above a half: x0 + x1 - 2 relu(x0 + x1 - 1) against 1/2.
pip install onnx; python3 tools/make-xor.py examples/data/xor.onnx"""
import sys

import onnx
from onnx import TensorProto, helper


def tensor(name, shape, numbers):
    return helper.make_tensor(name, TensorProto.FLOAT, shape, numbers)


graph = helper.make_graph(
    [
        helper.make_node("Gemm", ["x", "w", "b"], ["sums"]),
        helper.make_node("Relu", ["sums"], ["hidden"]),
        helper.make_node("Gemm", ["hidden", "v", "c"], ["scores"]),
        helper.make_node("ArgMax", ["scores"], ["label"], axis=1, keepdims=0),
    ],
    "xor",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2])],
    [helper.make_tensor_value_info("label", TensorProto.INT64, [1])],
    [
        tensor("w", [2, 2], [1, 1, 1, 1]),
        tensor("b", [2], [0, -1]),
        tensor("v", [2, 2], [-1, 1, 2, -2]),
        tensor("c", [2], [0.5, -0.5]),
    ],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], producer_name="Tacit")
model.ir_version = 8
onnx.checker.check_model(model)
onnx.save(model, sys.argv[1])
