"""The job of bench/peers/owners, in NumPy: digits told by a logistic regression, of owners who take
steps by themselves.  As `bench/silo-images digits logistic fedavg:K OWNERS`: the last sixth of the
images is for a test, owner k has every OWNERS-th of the others from the k-th on, and a step is one
of Adam with all of an owner's images, of size 1 / sqrt(2048).

In the environment: DIGITS, the file of images; OWNERS; STEPS, of an owner between two means; ROUNDS.
"""
import os

import numpy as np

OWNERS, STEPS, ROUNDS = (int(os.environ.get(name, 0)) for name in ("OWNERS", "STEPS", "ROUNDS"))
SIZE = 2048 ** -0.5


def read(path):
    """The numbers of an IDX file of bytes."""
    data = open(path, "rb").read()
    shape = [int.from_bytes(data[4 + 4 * k:8 + 4 * k], "big") for k in range(data[3])]
    return np.frombuffer(data, np.uint8, offset=4 + 4 * len(shape)).reshape(shape[0], -1)


def images():
    path = os.environ["DIGITS"]
    x, y = read(path) / 16, read(path.replace("idx3", "labels-idx1"))[:, 0]
    return np.hstack([x, np.ones((len(x), 1))]), y, len(x) - len(x) // 6


def none():
    return np.zeros((65, 10))


def train(owner, weights):
    """Where an owner's steps lead from there, and how many images it has."""
    x, y, n = images()
    x, y = x[:n][owner::OWNERS], y[:n][owner::OWNERS]
    wanted, weights = np.eye(10)[y], np.array(weights)
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for t in range(1, STEPS + 1):
        score = x @ weights
        chance = np.exp(score - score.max(axis=1, keepdims=True))
        gradient = x.T @ (chance / chance.sum(axis=1, keepdims=True) - wanted)
        first += 0.1 * (gradient - first)
        second += 0.001 * (gradient ** 2 - second)
        weights -= SIZE * first / (1 - 0.9 ** t) / (np.sqrt(second / (1 - 0.999 ** t)) + 1e-8)
    return weights, len(y)


def right(weights):
    """The share of test images told right."""
    x, y, n = images()
    return float(((x[n:] @ weights).argmax(axis=1) == y[n:]).mean())
