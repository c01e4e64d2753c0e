/* The variational autoencoder of the benchmarks, after Prediger et al. 2022, section 5.1: 784
 * pixels, 400 hidden units with softplus, 50 latent numbers; 688884 parameters. */
#ifndef TACIT_BENCH_VAE_H
#define TACIT_BENCH_VAE_H

#include <tacit/tacit.h>

enum { VAE_PIXELS = 784, VAE_HIDDEN = 400, VAE_LATENT = 50, VAE_NUMBERS = 688884 };

/* The decoder as a model, which observes the column "x", and the encoder as its guide, which reads
 * it.  `pixel` is dp_bernoulli_logit, for ink or none, or dp_chance_logit, for grey. */
dp_model *vae_decoder(dp_dist (*pixel)(dp_expr logit));
dp_model *vae_encoder(const dp_model *decoder);

/* Sets every parameter to normal draws of standard deviation 0.01. */
dp_status vae_start(dp_svi *svi, uint64_t seed, dp_error *err);

/* A run of published settings, constant Adam steps of 1e-3, with batches of a fixed size, so that
 * all steps do the same work.  Ends the program where that fails. */
#define VAE_SIGMA 1.5
#define VAE_CLIP 10.0
dp_svi *vae_fixed_run(dp_mode mode, size_t batch, size_t threads, bool single,
                      const dp_dataset *data);

/* n made-up binary images, [n][VAE_PIXELS]: a step's time does not depend on them. */
void vae_made_up(size_t n, double *x);

#endif
