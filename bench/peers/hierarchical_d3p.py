"""The hierarchical logistic regression of bench/hierarchical_logistic by d3p, and without privacy by NumPyro.

    hierarchical_d3p.py private | plain

Section 5.3 of the d3p paper (Prediger et al., 2022): N = 500, D = 5, K = 3, L = 3, batches of 10 without
replacement, Adam 1e-3, clip 1, noise 17.088, a guide for M alone.
"""
import sys

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO

from worker import jitted, serve, versions

N, D, K, L, BATCH = 500, 5, 3, 3, 10
CLIP, SIGMA, RATE = 1.0, 17.088, 1e-3


def data():
    """Training half of the simulated data; the fingerprints are checked."""
    np.random.seed(0)
    xs = np.random.randn(2, N, D)
    groups = np.random.randint(0, L, (2, N))
    M = np.random.randn(D, K)
    ys = np.zeros((2, N))
    for g in range(L):
        w = np.random.multivariate_normal(M @ np.eye(L, K)[g], 0.1 * np.eye(D))
        for half in range(2):
            rows = groups[half] == g
            p = 1 / (1 + np.exp(-xs[half][rows] @ w))
            ys[half][rows] = np.random.binomial(1, p)
    assert abs(xs[0, 0, 0] - 1.764052345967664) < 1e-12 and abs(M[0, 0] + 1.8201253472342291) < 1e-12
    return xs[0], groups[0], ys[0]


def model(xs=None, groups=None, ys=None):
    M = numpyro.sample("M", dist.Normal(jnp.zeros((D, K)), 4.0).to_event(2))
    w = numpyro.sample("w", dist.Normal((M @ jnp.eye(K, L)).T, 1.0).to_event(2))
    with numpyro.plate("batch", N, subsample_size=xs.shape[0]):
        numpyro.sample("y", dist.Bernoulli(logits=jnp.sum(xs * w[groups], axis=-1)), obs=ys)


def guide(xs=None, groups=None, ys=None):
    loc = numpyro.param("loc", jnp.zeros((D, K)))
    log_scale = numpyro.param("log_scale", jnp.zeros((D, K)))
    numpyro.sample("M", dist.Normal(loc, jnp.exp(log_scale)).to_event(2))


def private():
    import d3p.random as rng
    from d3p.minibatch import subsample_batchify_data
    from d3p.svi import DPSVI
    init, get_batch = subsample_batchify_data(tuple(jnp.asarray(a) for a in data()), batch_size=BATCH)
    svi = DPSVI(model, guide, numpyro.optim.Adam(RATE), Trace_ELBO(), clipping_threshold=CLIP,
                dp_scale=SIGMA)
    _, batches = init(rng.PRNGKey(1))
    state = svi.init(rng.PRNGKey(0), *get_batch(0, batches))
    serve(jitted(state, lambda i, state: svi.update(state, *get_batch(i, batches))[0]), private=True,
          note="float32, noise and batches from ChaCha, d3p's default",
          versions=versions("d3p", "numpyro", "jax", "jaxlib"))


def plain():
    arrays = tuple(jnp.asarray(a) for a in data())
    svi = SVI(model, guide, numpyro.optim.Adam(RATE), Trace_ELBO())
    state = svi.init(jax.random.PRNGKey(0), *(a[:BATCH] for a in arrays))

    def step(i, state):
        rows = jax.random.randint(jax.random.fold_in(jax.random.PRNGKey(1), i), (BATCH,), 0, N)
        return svi.update(state, *(a[rows] for a in arrays))[0]

    serve(jitted(state, step), private=False, note="float32, rows drawn with replacement",
          versions=versions("numpyro", "jax", "jaxlib"))


if __name__ == "__main__":
    private() if sys.argv[1] == "private" else plain()
