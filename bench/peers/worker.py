"""What the programs of the peers share: the protocol of bench/peers/run, made-up images, and the steps
of JAX-Privacy and of Opacus.

A worker compiles and warms up, prints one JSON line about itself, then reads numbers of steps from its
standard input, one a line, takes that many steps, and prints the seconds they took.
By hand:  echo 50 | PYTHON bench/peers/vae_d3p.py private
"""
import json
import os
import sys
import time
from typing import NamedTuple

import numpy as np

N, PIXELS = 60000, 784


class Setting(NamedTuple):
    """What all contestants have: rows of a step, clip norm, noise multiplier, Adam's step size."""
    batch: int
    clip: float
    sigma: float
    rate: float


# The variational autoencoder of bench/vae.h: 784-400-50-400-784 with softplus, 688884 parameters.
HIDDEN, LATENT = 400, 50
VAE = Setting(batch=128, clip=10.0, sigma=1.5, rate=1e-3)

# The network of examples/cnn.c, tanh before each pooling, 26010 parameters: filters, size, stride and
# padding of its convolutions; of its pooling size and stride; units and classes of its dense layers.
CONVOLUTIONS = ((16, 8, 2, 2), (32, 4, 2, 0))
POOL, POOL_STRIDE, FEATURES, UNITS, CLASSES = 2, 1, 512, 32, 10
CNN = Setting(batch=512, clip=1.0, sigma=1.0, rate=5e-3)


def images():
    """Binary, 13 % ones as in handwritten digits; a step's time does not depend on them."""
    random = np.random.default_rng(1)
    return (random.integers(0, 256, (N, PIXELS), dtype=np.uint8) < 34).astype(np.float32)


def labels():
    return np.random.default_rng(2).integers(0, CLASSES, N, dtype=np.int32)


def serve(block, **about):
    """block(steps) takes the steps and returns when they are done."""
    block(1)
    print(json.dumps(about), flush=True)
    for line in sys.stdin:
        steps = int(line)
        start = time.perf_counter()
        block(steps)
        print(time.perf_counter() - start, flush=True)


def versions(*names):
    from importlib.metadata import version
    return ", ".join("%s %s" % (name, version(name)) for name in names)


def note_of(generator=None):
    return "float32, rows drawn with replacement" + (", noise from %s" % generator if generator else "")


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


def serve_jax(params, loss, columns, setting, private, microbatch=None):
    """Steps of loss(params, rows, key), its mean over the rows, by JAX-Privacy or else JAX and Optax.

    `columns` are arrays of N rows, and `rows` has the drawn ones of each."""
    import jax
    import optax
    adam, noise, noise_state = optax.adam(setting.rate), None, None
    if private:
        import jax_privacy
        from jax_privacy.noise_addition import gaussian_privatizer
        gradient = jax_privacy.clipped_grad(loss, l2_clip_norm=setting.clip, normalize_by=setting.batch,
                                            batch_argnums=1, prng_argnum=2, microbatch_size=microbatch)
        noise = gaussian_privatizer(stddev=setting.sigma * setting.clip / setting.batch,
                                    prng_key=jax.random.key(2))
        noise_state = noise.init(params)
    else:
        gradient = jax.grad(loss)

    def step(i, state):
        params, moments, noise_state = state
        draw, key = jax.random.split(jax.random.fold_in(jax.random.key(1), i))
        rows = jax.random.randint(draw, (setting.batch,), 0, N)
        grads = gradient(params, tuple(column[rows] for column in columns), key)
        if private:
            grads, noise_state = noise.update(grads, noise_state)
        updates, moments = adam.update(grads, moments)
        return optax.apply_updates(params, updates), moments, noise_state

    names = (("jax-privacy",) if private else ()) + ("optax", "jax", "jaxlib")
    serve(jitted((params, adam.init(params), noise_state), step), private=private,
          note=note_of("JAX's generator" if private else None), versions=versions(*names))


def wrap_torch(model, setting, how):
    """Model, optimiser, and what goes backward from the losses of the rows."""
    import torch
    adam = torch.optim.Adam(model.parameters(), lr=setting.rate, fused=True)
    if how == "plain":
        return model, adam, lambda losses: losses.mean().backward()
    privacy = {"noise_multiplier": setting.sigma, "max_grad_norm": setting.clip,
               "expected_batch_size": setting.batch}
    if how == "private":
        from opacus import GradSampleModule
        from opacus.optimizers import DPOptimizer
        return (GradSampleModule(model), DPOptimizer(adam, **privacy),
                lambda losses: losses.mean().backward())
    from opacus.grad_sample import GradSampleModuleFastGradientClipping
    from opacus.optimizers import DPOptimizerFastGradientClipping
    from opacus.utils.fast_gradient_clipping_utils import DPTensorFastGradientClipping
    model = GradSampleModuleFastGradientClipping(model, max_grad_norm=setting.clip,
                                                 use_ghost_clipping=True)
    optimizer = DPOptimizerFastGradientClipping(adam, **privacy)
    return model, optimizer, lambda losses: DPTensorFastGradientClipping(model, optimizer,
                                                                         losses).backward()


def serve_torch(model, columns, setting, how):
    """Steps of the mean of model(rows of each column), by Opacus or else PyTorch.

    "private" holds each record's gradient, Opacus' default; "private-ghost" takes its norms from the
    layers and goes backward twice.  Adam is PyTorch's fused one.  OMP_NUM_THREADS says how many
    threads."""
    import torch
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    columns = [torch.from_numpy(column) for column in columns]
    model, optimizer, backward = wrap_torch(model, setting, how)

    def block(steps):
        for _ in range(steps):
            optimizer.zero_grad()
            rows = torch.randint(N, (setting.batch,))
            backward(model(*(column[rows] for column in columns)))
            optimizer.step()

    private = how != "plain"
    serve(block, private=private, note=note_of("PyTorch's generator" if private else None),
          versions=versions(*(("opacus",) if private else ()), "torch"))
