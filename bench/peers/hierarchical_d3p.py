"""d3p on the work of bench/hierarchical_logistic: one JSON line with its steps per second.

    python3 -m venv peers && peers/bin/pip install "d3p==0.2.0" "jax==0.4.25" "jaxlib==0.4.25" \
        "numpyro==0.13.2" "scipy<1.13"
    peers/bin/python bench/peers/hierarchical_d3p.py [steps]

Hierarchical logistic regression of the d3p paper (Prediger et al., 2022, section 5.3): N = 500, D = 5,
K = 3, L = 3, batches of 10 without replacement, Adam 1e-3, clip 1, noise 17.088, a guide for M alone.
Compilation is not counted: the loop runs once before it is timed.
"""
import json
import platform
import statistics
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import d3p.random as strong_rng
from d3p.minibatch import subsample_batchify_data
from d3p.svi import DPSVI
from numpyro.infer import Trace_ELBO

N, D, K, L, BATCH = 500, 5, 3, 3, 10
REPEATS = 9


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


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    arrays = tuple(jnp.asarray(a) for a in data())
    init, get_batch = subsample_batchify_data(arrays, batch_size=BATCH)
    svi = DPSVI(model, guide, numpyro.optim.Adam(1e-3), Trace_ELBO(), clipping_threshold=1.0,
                dp_scale=17.088)
    _, batches = init(strong_rng.PRNGKey(1))
    state = svi.init(strong_rng.PRNGKey(0), *get_batch(0, batches))

    @jax.jit
    def run(state):
        def body(i, state):
            return svi.update(state, *get_batch(i, batches))[0]
        return jax.lax.fori_loop(0, steps, body, state)

    jax.block_until_ready(run(state))
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        jax.block_until_ready(run(state))
        seconds.append(time.perf_counter() - start)
    median = statistics.median(seconds)
    print(json.dumps({"kernel": "hierarchical_logistic", "form": "d3p 0.2.0 on jax " + jax.__version__,
                      "n": N, "batch": BATCH, "steps": steps, "seconds": round(median, 4),
                      "spread": round(max(seconds) - min(seconds), 4),
                      "steps_per_second": round(steps / median), "cpu": platform.processor()
                      or platform.machine()}))


if __name__ == "__main__":
    main()
