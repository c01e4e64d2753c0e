"""What the programs of the peers share: the protocol of bench/peers/run, made-up images, and JAX.

A worker compiles and warms up, prints one JSON line about itself, then reads numbers of steps from its
standard input, one a line, takes that many steps, and prints the seconds they took.
By hand:  echo 50 | PYTHON bench/peers/vae_d3p.py private
"""
import json
import sys
import time

import numpy as np

# The variational autoencoder of bench/vae.h: 784-400-50-400-784 with softplus, 688884 parameters.
N, PIXELS, HIDDEN, LATENT, BATCH = 60000, 784, 400, 50, 128
CLIP, SIGMA, RATE = 10.0, 1.5, 1e-3


def images():
    """Binary, 13 % ones as in handwritten digits; a step's time does not depend on them."""
    random = np.random.default_rng(1)
    return (random.integers(0, 256, (N, PIXELS), dtype=np.uint8) < 34).astype(np.float32)


def serve(block, **about):
    """block(steps) takes the steps and returns when they are done."""
    block(1)
    print(json.dumps(about), flush=True)
    for line in sys.stdin:
        steps = int(line)
        start = time.perf_counter()
        block(steps)
        print(time.perf_counter() - start, flush=True)


def jitted(state, step):
    """A block for `serve` of step(i, state), in one compiled loop whose length is an argument.

    The state is the loop's own: it is given away and replaced, so that updates are made in place."""
    import jax
    from functools import partial

    @partial(jax.jit, donate_argnums=1)
    def run(steps, first_and_state):
        first, state = first_and_state
        state = jax.lax.fori_loop(first, first + steps, step, state)
        return first + steps, state

    held = [(0, state)]

    def block(steps):
        held[0] = jax.block_until_ready(run(steps, held[0]))

    return block


def versions(*names):
    from importlib.metadata import version
    return ", ".join("%s %s" % (name, version(name)) for name in names)
