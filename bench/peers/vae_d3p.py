"""The variational autoencoder of bench/vae_step by d3p, and without privacy by NumPyro, on the CPU.

    vae_d3p.py private | plain

As in d3p's own example (Prediger et al., 2022, sections 5.1 and 5.2): DPSVI over layers of stax, the
batch drawn in the step, and an epoch one compiled loop.  Images are binary beforehand.
"""
import sys

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from jax.example_libraries import stax
from jax.nn.initializers import normal
from numpyro.infer import SVI, Trace_ELBO

from worker import HIDDEN, LATENT, N, PIXELS, VAE, images, jitted, note_of, serve, versions


def dense(width):
    return stax.Dense(width, W_init=normal(0.01))


def encoder():
    heads = stax.parallel(dense(LATENT), stax.serial(dense(LATENT), stax.Exp))
    return stax.serial(dense(HIDDEN), stax.Softplus, stax.FanOut(2), heads)


def decoder():
    return stax.serial(dense(HIDDEN), stax.Softplus, dense(PIXELS))


def model(x):
    decode = numpyro.module("decoder", decoder(), (1, LATENT))
    with numpyro.plate("rows", N, subsample_size=x.shape[0]):
        z = numpyro.sample("z", dist.Normal(jnp.zeros(LATENT), 1.0).to_event(1))
        numpyro.sample("x", dist.Bernoulli(logits=decode(z)).to_event(1), obs=x)


def guide(x):
    encode = numpyro.module("encoder", encoder(), (1, PIXELS))
    with numpyro.plate("rows", N, subsample_size=x.shape[0]):
        loc, scale = encode(x)
        numpyro.sample("z", dist.Normal(loc, scale).to_event(1))


def private():
    import d3p.random as rng
    from d3p.minibatch import subsample_batchify_data
    from d3p.svi import DPSVI
    init, get_batch = subsample_batchify_data((jnp.asarray(images()),), batch_size=VAE.batch)
    svi = DPSVI(model, guide, numpyro.optim.Adam(VAE.rate), Trace_ELBO(), clipping_threshold=VAE.clip,
                dp_scale=VAE.sigma)
    _, batches = init(rng.PRNGKey(1))
    state = svi.init(rng.PRNGKey(0), *get_batch(0, batches))
    serve(jitted(state, lambda i, state: svi.update(state, *get_batch(i, batches))[0]), private=True,
          note="float32, noise and batches from ChaCha, d3p's default",
          versions=versions("d3p", "numpyro", "jax", "jaxlib"))


def plain():
    x = jnp.asarray(images())
    svi = SVI(model, guide, numpyro.optim.Adam(VAE.rate), Trace_ELBO())
    state = svi.init(jax.random.PRNGKey(0), x[:VAE.batch])

    def step(i, state):
        rows = jax.random.randint(jax.random.fold_in(jax.random.PRNGKey(1), i), (VAE.batch,), 0, N)
        return svi.update(state, x[rows])[0]

    serve(jitted(state, step), private=False, note=note_of(),
          versions=versions("numpyro", "jax", "jaxlib"))


if __name__ == "__main__":
    private() if sys.argv[1] == "private" else plain()
