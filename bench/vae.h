/* The variational autoencoder of the benchmarks, after Prediger et al. 2022, section 5.1: 784 pixels, 400
 * hidden units with softplus, 50 latent numbers; 688884 parameters. */
#ifndef TACIT_BENCH_VAE_H
#define TACIT_BENCH_VAE_H

#include <tacit/tacit.h>

enum { VAE_PIXELS = 784, VAE_HIDDEN = 400, VAE_LATENT = 50, VAE_NUMBERS = 688884 };

/* The decoder as a model, which observes the column "x", and the encoder as its guide, which reads `column`. */
dp_model *vae_decoder(void);
dp_model *vae_encoder(const dp_model *decoder, const char *column);

/* Sets every parameter to normal draws of standard deviation 0.01. */
dp_status vae_start(dp_svi *svi, uint64_t seed, dp_error *err);

#endif
