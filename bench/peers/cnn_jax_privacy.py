"""The convolutional network of examples/cnn by JAX-Privacy, and without privacy by JAX and Optax.

    cnn_jax_privacy.py private [M] | plain

M as in vae_jax_privacy.py.  Convolutions are products with patches and pooling is a maximum of shifted
images: in a compiled loop XLA's own operations for them take many times as long on a processor.
"""
import sys
from functools import reduce

import jax
import jax.numpy as jnp

from worker import (CLASSES, CNN, CONVOLUTIONS, FEATURES, POOL, POOL_STRIDE, UNITS, images, labels,
                    serve_jax)


def start():
    shapes, channels = [], 1
    for filters, size, _, _ in CONVOLUTIONS:
        shapes.append((size * size * channels, filters))
        channels = filters
    shapes += [(FEATURES, UNITS), (UNITS, CLASSES)]
    keys = jax.random.split(jax.random.key(0), len(shapes))
    return [{"w": jax.random.normal(key, shape) / shape[0]**0.5,
             "b": jnp.zeros(shape[-1])} for key, shape in zip(keys, shapes)]


def patches(h, size, stride, padding):
    """What a window of size x size sees at its stops: [rows][stops][stops][size size channels]."""
    h = jnp.pad(h, ((0, 0), (padding, padding), (padding, padding), (0, 0)))
    end = h.shape[1] - size + 1
    seen = [h[:, i:i + end:stride, j:j + end:stride] for i in range(size) for j in range(size)]
    return jnp.concatenate(seen, axis=-1)


def pooled(h):
    rows, columns = (side - POOL + 1 for side in h.shape[1:3])
    return reduce(jnp.maximum, [h[:, i:i + rows:POOL_STRIDE, j:j + columns:POOL_STRIDE]
                                for i in range(POOL) for j in range(POOL)])


def loss(params, rows, _):
    """Cross entropy, the mean over the rows."""
    x, y = rows
    for layer, (_, size, stride, padding) in zip(params, CONVOLUTIONS):
        h = jnp.tanh(patches(x, size, stride, padding) @ layer["w"] + layer["b"])
        x = pooled(h)
    hidden, last = params[-2:]
    h = jnp.tanh(x.reshape(x.shape[0], -1) @ hidden["w"] + hidden["b"])
    logits = h @ last["w"] + last["b"]
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], axis=-1))


if __name__ == "__main__":
    serve_jax(start(), loss, (jnp.asarray(images().reshape(-1, 28, 28, 1)), jnp.asarray(labels())), CNN,
              sys.argv[1] == "private", int(sys.argv[2]) if len(sys.argv) > 2 else None)
