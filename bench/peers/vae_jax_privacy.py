"""The variational autoencoder of bench/vae_step by JAX-Privacy, and without privacy by JAX and Optax.

    vae_jax_privacy.py private | plain

Its clipped_grad makes each record's gradient by vmap; its Gaussian privatizer takes JAX's generator.
"""
import sys

import jax
import jax.numpy as jnp
import optax

from worker import BATCH, CLIP, HIDDEN, LATENT, N, PIXELS, RATE, SIGMA, images, jitted, serve, versions

LAYERS = {"hidden": (PIXELS, HIDDEN), "loc": (HIDDEN, LATENT), "log_scale": (HIDDEN, LATENT),
          "back": (LATENT, HIDDEN), "logits": (HIDDEN, PIXELS)}


def start():
    keys = jax.random.split(jax.random.key(0), len(LAYERS))
    return {name: {"w": 0.01 * jax.random.normal(key, shape), "b": jnp.zeros(shape[1])}
            for key, (name, shape) in zip(keys, LAYERS.items())}


def loss(params, x, key):
    """Negative ELBO, the mean over the rows of x; the divergence from the prior is exact."""
    def dense(name, a):
        return a @ params[name]["w"] + params[name]["b"]

    h = jax.nn.softplus(dense("hidden", x))
    loc, log_scale = dense("loc", h), dense("log_scale", h)
    z = loc + jnp.exp(log_scale) * jax.random.normal(key, loc.shape)
    logits = dense("logits", jax.nn.softplus(dense("back", z)))
    misfit = jnp.sum(jax.nn.softplus(logits) - x * logits, axis=-1)
    divergence = 0.5 * jnp.sum(jnp.exp(2 * log_scale) + loc**2 - 1 - 2 * log_scale, axis=-1)
    return jnp.mean(misfit + divergence)


def main(private, microbatch=None):
    x, params, adam = jnp.asarray(images()), start(), optax.adam(RATE)
    noise, noise_state = None, None
    if private:
        import jax_privacy
        from jax_privacy.noise_addition import gaussian_privatizer
        gradient = jax_privacy.clipped_grad(loss, l2_clip_norm=CLIP, normalize_by=BATCH, batch_argnums=1,
                                            prng_argnum=2, microbatch_size=microbatch)
        noise = gaussian_privatizer(stddev=SIGMA * CLIP / BATCH, prng_key=jax.random.key(2))
        noise_state = noise.init(params)
    else:
        gradient = jax.grad(loss)

    def step(i, state):
        params, moments, noise_state = state
        draw, latent = jax.random.split(jax.random.fold_in(jax.random.key(1), i))
        rows = jax.random.randint(draw, (BATCH,), 0, N)
        grads = gradient(params, x[rows], latent)
        if private:
            grads, noise_state = noise.update(grads, noise_state)
        updates, moments = adam.update(grads, moments)
        return optax.apply_updates(params, updates), moments, noise_state

    note = "float32, rows drawn with replacement" + (", noise from JAX's generator" if private else "")
    names = ("jax-privacy", "optax", "jax", "jaxlib") if private else ("optax", "jax", "jaxlib")
    serve(jitted((params, adam.init(params), noise_state), step), private=private, note=note,
          versions=versions(*names))


if __name__ == "__main__":
    main(sys.argv[1] == "private", int(sys.argv[2]) if len(sys.argv) > 2 else None)
