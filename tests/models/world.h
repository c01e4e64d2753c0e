/* Data that are drawn from a known truth, and a fit of a ready model to them without privacy. */
#ifndef TESTS_MODELS_WORLD_H
#define TESTS_MODELS_WORLD_H

#include <tacit/tacit.h>

/* n standard normal and n uniform numbers of a seed. */
void world_normal(uint64_t seed, size_t n, double *out);
void world_uniform(uint64_t seed, size_t n, double *out);

/* Fits without privacy, or with the noise and clip of `opts` where its mode says so; the model and
 * guide (nullable) are freed. */
dp_fit *world_fit(dp_model *m, dp_model *guide, const dp_dataset *data, const dp_svi_opts *opts);

/* The numbers of a named value at the centre of the guide, for the records of data (nullable). */
void world_value(dp_fit *fit, const dp_dataset *data, const char *name, size_t n, double *values);

/* The mean of the posterior of a latent's number k of n is within `sds` of its standard deviations
 * of the truth. */
void world_recovers(const dp_fit *fit, const char *latent, size_t n, size_t k, double truth,
                    double sds);

#endif
