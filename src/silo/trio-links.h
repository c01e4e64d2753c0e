/* Three parties that meet: a session between each two of them, over which they find out whether
 * they mean the same, and which rows two of them have both, before their keys are bound to it. */
#ifndef DPI_SILO_TRIO_LINKS_H
#define DPI_SILO_TRIO_LINKS_H

#include "silo/psi.h"
#include "silo/trio-run.h"

typedef struct dpi_silo_trio_links {
    size_t self;
    uint32_t patience;
    const char *called[DP_SILO_TRIO];     /* in messages */
    dpi_wire_session *link[DP_SILO_TRIO]; /* NULL: this party's own place */
} dpi_silo_trio_links;

/* Which party an identity is, from fingerprints that differ.  DP_EINVAL, DP_ENAME. */
DP_MUST_CHECK dp_status dpi_silo_trio_self(const dp_silo_trio_opts *opts, size_t *self,
                                           dp_error *err);

/* The links of party `self`: 0 and 1 listen, and each connects to those before it, again and again
 * until patience ends, or the watch stops it.  All NULL after an error.
 * DP_EINVAL, DP_ENAME, DP_ETIMEOUT, DP_ESTOPPED, DP_EPEER, DP_EIO, DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_silo_trio_meet(const dp_silo_trio_opts *opts, size_t self,
                                           const dpi_silo_trio_watch *watch /* nullable */,
                                           dpi_silo_trio_links *links, dp_error *err);

/* Tells both others own[n], and takes as much from each: others[party][n], of this one what it was.
 * DP_EPEER, DP_ETIMEOUT. */
DP_MUST_CHECK dp_status dpi_silo_trio_swap(dpi_silo_trio_links *links, size_t n,
                                           const unsigned char *own,
                                           unsigned char *const others[DP_SILO_TRIO],
                                           dp_error *err);

/* Which of its ids party `peer` has too (psi.h), under a key that these two alone have; opts->key
 * and opts->seed are not read: key and exponent follow from the states of the two, so that it is
 * done again to the bit, and one list of each is answered.  DP_EPRIVACY it has sent another. */
DP_MUST_CHECK dp_status dpi_silo_trio_link(dpi_silo_trio_links *links, dpi_trio_state *state,
                                           size_t peer, const dpi_psi_opts *opts, size_t n,
                                           const char *const *ids, size_t *common,
                                           size_t *rows /* [n] */, dp_error *err);

/* A mesh over the links, which are its own from now on, also where it fails; where the context is
 * another one at a party it comes about at none.  Errors of dpi_mesh_new. */
DP_MUST_CHECK dp_status dpi_silo_trio_bind(dpi_silo_trio_links *links, size_t n,
                                           const unsigned char *context, dpi_mesh **mesh,
                                           dp_error *err);

/* Closes those that are left. */
void dpi_silo_trio_part(dpi_silo_trio_links *links);

#endif
