"""The variational autoencoder of bench/vae_step by JAX-Privacy, and without privacy by JAX and Optax.

    vae_jax_privacy.py private [M] | plain

Its clipped_grad makes each record's gradient by vmap, M records at a time; its Gaussian privatizer takes
JAX's generator.
"""
import sys

import jax
import jax.numpy as jnp

from worker import HIDDEN, LATENT, PIXELS, VAE, images, serve_jax

LAYERS = {"hidden": (PIXELS, HIDDEN), "loc": (HIDDEN, LATENT), "log_scale": (HIDDEN, LATENT),
          "back": (LATENT, HIDDEN), "logits": (HIDDEN, PIXELS)}


def start():
    keys = jax.random.split(jax.random.key(0), len(LAYERS))
    return {name: {"w": 0.01 * jax.random.normal(key, shape), "b": jnp.zeros(shape[1])}
            for key, (name, shape) in zip(keys, LAYERS.items())}


def loss(params, rows, key):
    """Negative ELBO, the mean over the rows; the divergence from the prior is exact."""
    def dense(name, a):
        return a @ params[name]["w"] + params[name]["b"]

    x, = rows
    h = jax.nn.softplus(dense("hidden", x))
    loc, log_scale = dense("loc", h), dense("log_scale", h)
    z = loc + jnp.exp(log_scale) * jax.random.normal(key, loc.shape)
    logits = dense("logits", jax.nn.softplus(dense("back", z)))
    misfit = jnp.sum(jax.nn.softplus(logits) - x * logits, axis=-1)
    divergence = 0.5 * jnp.sum(jnp.exp(2 * log_scale) + loc**2 - 1 - 2 * log_scale, axis=-1)
    return jnp.mean(misfit + divergence)


if __name__ == "__main__":
    serve_jax(start(), loss, (jnp.asarray(images()),), VAE, sys.argv[1] == "private",
              int(sys.argv[2]) if len(sys.argv) > 2 else None)
