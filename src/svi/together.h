/* Releases of several owners (tacit/owners.h): each puts its own sum on the grid, or each of its
 * units (dpi_together_is_whole), with its share of the noise, and they open the sum of all together.
 * doc/design/silo.md. */
#ifndef DPI_SVI_TOGETHER_H
#define DPI_SVI_TOGETHER_H

#include <tacit/owners.h>
#include <tacit/svi.h>

#include "svi/release.h"

/* Whether there can be such owners; NULL is none.  DP_EINVAL. */
dp_status dpi_together_check(const dp_owners *owners, dp_error *err) DP_MUST_CHECK;

/* Whether the resolved options are such that sums of owners are what one process would release:
 * DP_EINVAL, DP_EMISMATCH.  DP_EUNSUPPORTED where they could overflow. */
dp_status dpi_together_check_run(const dp_svi_opts *o, dp_error *err) DP_MUST_CHECK;

/* That what the owner asked for is one of a scheme's: damping is of local steps.  DP_EINVAL. */
dp_status dpi_together_check_alone(const dp_owners *o, dp_error *err) DP_MUST_CHECK;

/* Whether owners may take steps by themselves (local_steps) without privacy or with it, with or
 * without a written guide; where they take none they may.  DP_EPRIVACY, DP_EUNSUPPORTED. */
dp_status dpi_together_check_local(const dp_owners *owners, dp_mode mode, bool guided,
                                   dp_error *err) DP_MUST_CHECK;

/* Whether words hold the sums of all owners, to which a record adds so many steps at most, with
 * noise where sigma is not 0; without owners they do.  DP_EUNSUPPORTED. */
dp_status dpi_together_check_room(const dp_owners *owners, double steps, double sigma,
                                  dp_error *err) DP_MUST_CHECK;

/* The same of sums on the grid of shares, with noise of sigma times what a record adds. */
dp_status dpi_together_check_grid(const dp_owners *owners, double sigma,
                                  dp_error *err) DP_MUST_CHECK;

/* Whether an owner may have n records: DP_EDATA. */
dp_status dpi_together_check_records(const dp_owners *owners, size_t n,
                                     dp_error *err) DP_MUST_CHECK;

/* Whether releases are each owner's own, with all their noise (damping). */
bool dpi_together_is_own(const dp_owners *owners);

/* Whether each unit of a run that releases n numbers is put on the grid by itself, so that what
 * owners open is the same to the bit however records are split. */
bool dpi_together_is_whole(const dp_svi_opts *o, size_t n);

/* What the noise of all shares is more than that which guards against those who know the shares of
 * others; 1 without owners. */
double dpi_together_excess(const dp_owners *owners);

/* The noise of one share, as a multiple of that which is accounted for; 1 without owners. */
double dpi_together_share(const dp_owners *owners);

/* Times that the noise of a number can fail, or differ from a rounded normal number's. */
double dpi_together_failures(const dp_owners *owners);

/* 64-bit words that a release of n numbers is opened as.  Without noise, which nothing bounds, they
 * are three a number. */
size_t dpi_together_words(bool noisy, size_t n);

/* Adds this owner's share of the noise to whole[n], its sum: of a stream that the owners' own key
 * gives, or of the source.  Errors of owners->share and of dpi_noise_stream. */
dp_status dpi_together_noise(const dp_owners *owners, dp_noise *source,
                             const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                             int64_t *whole, dp_error *err) DP_MUST_CHECK;

/* What this owner has put into r->whole (r->quiet), or without noise into r->out, becomes, with its
 * share of the noise, the release of all owners, r->out.  r->whole [dpi_together_words] is wiped.
 * Collective over the owner's ranks (base/hosts.h), behind their meeting, each of which has come so
 * far with `mine`; they have it at rank 0 alone, and r->whole is one longer.
 * `mine` where it is an error; errors of dpi_hosts_add, dpi_together_noise and owners->open. */
dp_status dpi_together_open(const dp_owners *owners, dp_noise *source,
                            const unsigned char question[DP_OWNERS_QUESTION], const dpi_release *r,
                            dp_status mine, dp_error *err) DP_MUST_CHECK;

/* The same of a release that is this owner's alone, which is noise and all: nothing is opened. */
dp_status dpi_together_alone(const dp_owners *owners, dp_noise *source,
                             const unsigned char question[DP_OWNERS_QUESTION], const dpi_release *r,
                             dp_error *err) DP_MUST_CHECK;

/* Before the draws of a step, its batch and latents of records: where the owner has a key of its
 * own, they follow from it and `question`, the step's.  Collective over its ranks, behind their
 * meeting, of which each has a key of its own.  Errors of owners->share and of dpi_hosts_key. */
dp_status dpi_together_draws(const dp_owners *owners, dp_noise *source,
                             const unsigned char question[DP_OWNERS_QUESTION],
                             dp_error *err) DP_MUST_CHECK;

/* Of a release that was made before: only the source, where it gives the noise, draws.  r->whole is
 * wiped, and nothing opened. */
dp_status dpi_together_again(const dp_owners *owners, dp_noise *source, const dpi_release *r,
                             dp_error *err) DP_MUST_CHECK;

/* The same as dpi_together_open for the step of a run. */
dp_status dpi_together_step(const dp_svi *s, dp_status mine, dp_error *err) DP_MUST_CHECK;

#endif
