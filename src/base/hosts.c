/* A meeting is one sum of few words over the ranks, all modulo 2^64:
 *
 *   failed   ranks that are here with a failure
 *   ended    ranks that have left the call, and wait until all have
 *   made     what rank 0 says
 *   units    of all shards
 *   asked    the questions of all ranks, added up word by word
 *   first    that of rank 0
 *
 * All ranks have the same sum and come to the same verdict.  Questions are all the same where asked
 * is first times their number: others, which are hashes, add up to that with a chance of 2^-256.
 *
 * A rank that leaves the call says so in place of the next meeting, and again until `ended` is
 * their number.  So it answers whoever still comes to meet, who then stops and leaves too.  Between a
 * meeting and what is given no rank leaves, so that nothing else can be waited for. */
#include "base/hosts.h"

#include <sodium.h>
#include <string.h>

#include "base/error.h"
#include "base/group.h"

enum { QUESTION = DP_OWNERS_QUESTION / 8, MOST = 64 };

typedef struct hosts_words {
    uint64_t failed, ended, made, units, asked[QUESTION], first[QUESTION];
} hosts_words;

enum { WORDS = sizeof(hosts_words) / sizeof(uint64_t) };

dp_status dpi_hosts_check(const dp_owners *o, dp_error *err)
{
    if (o == NULL || o->group == NULL)
        return DP_OK;
    dp_status status = dpi_group_check(o->group, err);
    if (status == DP_OK && o->group->size > MOST)
        return dpi_fail(err, DP_EINVAL, "an owner has %zu ranks; it can have %d", o->group->size,
                        MOST);
    if (status == DP_OK && o->local_steps > 0)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "steps that an owner takes by itself are those of one process; leave its "
                        "group NULL, or local_steps 0, so that gradients are opened");
    return status;
}

bool dpi_hosts_are(const dp_owners *o)
{
    return o != NULL && o->group != NULL;
}

bool dpi_hosts_gate(const dp_owners *o)
{
    return !dpi_hosts_are(o) || o->group->rank == 0;
}

static dp_status sum(const dp_group *group, hosts_words *w, dp_error *err)
{
    int64_t all[WORDS];
    memcpy(all, w, sizeof all);
    if (group->sum(group->context, WORDS, all) != 0)
        return dpi_fail(err, DP_EIO,
                        "the ranks of this owner can no longer reach each other; start all of them "
                        "again");
    memcpy(w, all, sizeof all);
    return DP_OK;
}

static dp_status verdict(dp_status mine, const hosts_words *w, dp_error *err)
{
    if (mine != DP_OK || w->failed == 0)
        return mine;
    return dpi_fail(err, DP_ESTATE, "another rank of this owner has failed; its message tells why");
}

static bool same_question(const dp_group *group, const hosts_words *w)
{
    bool same = true;
    for (size_t k = 0; k < QUESTION; k++)
        same = same && w->asked[k] == group->size * w->first[k];
    return same;
}

dp_status dpi_hosts_meet(const dp_owners *o, dp_status mine, dpi_hosts_meeting *at, dp_error *err)
{
    if (!dpi_hosts_are(o))
        return mine;
    const dp_group *group = o->group;
    hosts_words w = {.failed = mine != DP_OK, .units = at->units};
    memcpy(w.asked, at->question, sizeof w.asked);
    if (group->rank == 0) {
        w.made = at->made;
        memcpy(w.first, at->question, sizeof w.first);
    }
    dp_status status = sum(group, &w, err);
    at->made = w.made != 0;
    at->units = w.units;
    if (status == DP_OK)
        status = verdict(mine, &w, err);
    if (status == DP_OK && w.ended == 0 && !same_question(group, &w))
        return dpi_fail(err, DP_EMISMATCH,
                        "the ranks of this owner have come to different questions; give all the "
                        "same program, model and options, data apart, on processors of one kind");
    if (status == DP_OK && w.ended > 0)
        return dpi_fail(err, DP_ESTATE, "another rank of this owner has ended before this one");
    return mine != DP_OK ? mine : status;
}

dp_status dpi_hosts_end(const dp_owners *o, dp_status mine, dp_error *err)
{
    dp_status found = mine;
    bool all = !dpi_hosts_are(o);
    while (!all) {
        hosts_words w = {.failed = mine != DP_OK, .ended = 1};
        dp_status status = sum(o->group, &w, found == DP_OK ? err : NULL);
        if (found == DP_OK)
            found = status != DP_OK ? status : verdict(mine, &w, err);
        all = status != DP_OK || w.ended == o->group->size;
    }
    return found;
}

dp_status dpi_hosts_add(const dp_owners *o, dp_status mine, size_t n, int64_t *whole, dp_error *err)
{
    return dpi_hosts_are(o) ? dpi_group_add(o->group, mine, n, whole, err) : mine;
}

dp_status dpi_hosts_give(const dp_owners *o, dp_status mine, size_t n, double *out, int64_t *room,
                         dp_error *err)
{
    if (!dpi_hosts_are(o))
        return mine;
    if (dpi_hosts_gate(o))
        memcpy(room, out, n * sizeof *out);
    else
        memset(room, 0, n * sizeof *out);
    dp_status status = dpi_group_add(o->group, mine, n, room, err);
    memcpy(out, room, n * sizeof *out); /* zeros after a failure */
    sodium_memzero(room, (n + 1) * sizeof *room);
    return status;
}

dp_status dpi_hosts_key(const dp_owners *o, dp_status mine, unsigned char key[DP_OWNERS_KEY],
                        dp_error *err)
{
    int64_t room[DP_OWNERS_KEY / 8 + 1] = {0};
    if (!dpi_hosts_are(o))
        return mine;
    if (dpi_hosts_gate(o))
        memcpy(room, key, DP_OWNERS_KEY);
    dp_status status = dpi_group_add(o->group, mine, DP_OWNERS_KEY / 8, room, err);
    const uint64_t rank = o->group->rank;
    if (status == DP_OK && rank > 0)
        (void)crypto_generichash(key, DP_OWNERS_KEY, (const unsigned char *)&rank, sizeof rank,
                                 (const unsigned char *)room, DP_OWNERS_KEY);
    sodium_memzero(room, sizeof room);
    return status;
}

uint64_t dpi_hosts_seed(const dp_owners *o, uint64_t seed)
{
    return dpi_hosts_gate(o) ? seed : (seed ^ o->group->rank * UINT64_C(0xd1342543de82ef95)) | 1;
}
