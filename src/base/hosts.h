/* Ranks of one owner (dp_owners.group): each has a shard of its records, rank 0 alone speaks with
 * the other owners.  doc/design/silo-hosts.md.
 *
 *   meet   all ranks are there, none has failed, and all come to the same question
 *   add    whole numbers of all shards, exactly
 *   give   what rank 0 has opened, to the bit
 *   end    of a call: nobody waits for a rank that has left it
 *
 * Whoever has failed says so where the others wait: in `meet` and `end`, which are one exchange and
 * go together, when nobody knows how far it has come; in `add` and `give` when all have met.  What
 * one rank finds out there all find out, so that all stop at one place.  Without a group all of
 * these are of one process, which agrees with itself. */
#ifndef DPI_BASE_HOSTS_H
#define DPI_BASE_HOSTS_H

#include <stdbool.h>

#include <tacit/owners.h>

/* That there can be such ranks: DP_EINVAL; DP_EUNSUPPORTED where owners take steps by
 * themselves. */
dp_status dpi_hosts_check(const dp_owners *owners, dp_error *err) DP_MUST_CHECK;

/* Whether there are several ranks, and whether this is the one that speaks with other owners; NULL
 * is one process. */
bool dpi_hosts_are(const dp_owners *owners);
bool dpi_hosts_gate(const dp_owners *owners);

/* What ranks say when they meet. */
typedef struct dpi_hosts_meeting {
    const unsigned char *question; /* [DP_OWNERS_QUESTION] that comes next, the same in all */
    bool made;                     /* in: of rank 0, what is asked was opened before; out: so it
                                    * says */
    uint64_t units;                /* in: of this shard; out: of all */
} dpi_hosts_meeting;

/* Collective, for a rank that has come so far with `mine`: that if it is a failure; DP_ESTATE in
 * all others; DP_EMISMATCH in all where questions differ; DP_EIO. */
dp_status dpi_hosts_meet(const dp_owners *owners, dp_status mine, dpi_hosts_meeting *at,
                         dp_error *err) DP_MUST_CHECK;

/* Collective, behind a meeting: adds up whole[n] over the ranks, |value| <= 2^62 / ranks; whole[n]
 * is room.  As dpi_hosts_meet; zeros then. */
dp_status dpi_hosts_add(const dp_owners *owners, dp_status mine, size_t n, int64_t *whole,
                        dp_error *err) DP_MUST_CHECK;

/* Collective, behind that: out[n] becomes that of rank 0; room[n + 1] is wiped.  As dpi_hosts_meet;
 * zeros then. */
dp_status dpi_hosts_give(const dp_owners *owners, dp_status mine, size_t n, double *out,
                         int64_t *room, dp_error *err) DP_MUST_CHECK;

/* Collective, behind a meeting: keys this rank's source, of its own key, by what rank 0 has been
 * given by dp_owners.share.  As dpi_hosts_meet. */
dp_status dpi_hosts_key(const dp_owners *owners, dp_status mine, unsigned char key[DP_OWNERS_KEY],
                        dp_error *err) DP_MUST_CHECK;

/* The last thing of a call that ends with `mine`, once in every rank, however far it has come:
 * DP_ESTATE where another one has failed. */
dp_status dpi_hosts_end(const dp_owners *owners, dp_status mine, dp_error *err) DP_MUST_CHECK;

/* The seed of this rank's draws: that which is given at rank 0, as without ranks. */
uint64_t dpi_hosts_seed(const dp_owners *owners, uint64_t seed);

#endif
