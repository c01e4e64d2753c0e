/* Three parties that meet: a session between each two of them, and keys that are bound to what all
 * were told. */
#ifndef DPI_SILO_TRIO_LINKS_H
#define DPI_SILO_TRIO_LINKS_H

#include <tacit/silo-trio.h>

#include "share/trio.h"
#include "silo/post.h"

/* The links of party `self`: 0 and 1 listen, and each connects to those before it, again and again
 * until patience ends.
 *   context  [DPI_SILO_HASH] a hash of all that is public; where it is another at one of them none
 *            of the meshes comes about
 *   *mesh    [out] NULL on error
 * DP_EINVAL, DP_ENAME, DP_ETIMEOUT, DP_EPEER, DP_EIO, DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_silo_trio_meet(const dp_silo_trio_opts *opts, size_t self,
                                           const unsigned char context[DPI_SILO_HASH],
                                           dpi_mesh **mesh, dp_error *err);

/* Which party an identity is, from fingerprints that differ.  DP_EINVAL, DP_ENAME. */
DP_MUST_CHECK dp_status dpi_silo_trio_self(const dp_silo_trio_opts *opts, size_t *self,
                                           dp_error *err);

#endif
