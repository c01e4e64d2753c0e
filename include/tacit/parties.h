/* Private serving by three or four computing parties (libtacit-serve): none of them learns the
 * model, nor a record, nor an answer.
 *
 * A provider shares a model among the parties and may then be away; clients share each record among
 * them and put the answer together.  Three parties ("hm3") keep what they compute from each of
 * them, as long as no two put together what they see and each does what it should.  Four ("hm4")
 * keep it also from one that does anything, and a wrong answer is never given: the query fails.
 * (Of models that are shared to round by chance, which clients must allow, answers are right but
 * for a stated chance.)
 *
 *   party:     dp_party_new, dp_party_run
 *   provider:  dp_share_program
 *   client:    dp_ask_parties_new, then dp_ask_query and dp_ask_many as with two parties
 *
 * doc/design/share-sessions.md has the order of messages, and what is checked. */
#ifndef TACIT_PARTIES_H
#define TACIT_PARTIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/export.h>
#include <tacit/program.h>
#include <tacit/serve.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- who they are ---- */

typedef struct dp_parties dp_parties;

/* The parties and their provider, from a text of lines; # begins a comment:
 *
 *   party = 0 HOST PORT tacit:...      their addresses and fingerprints, three or four, from 0 on
 *   party = 1 HOST PORT tacit:...
 *   party = 2 HOST PORT tacit:...
 *   provider = tacit:...               who shares models among them
 *
 * Everybody has the same list: sessions begin only where the fingerprints and their order agree.
 * Addresses may differ, where networks give one machine several.
 *   file      its name in messages
 *   *parties  [out] freed by dp_parties_free; NULL on error
 * DP_EDATA with the line; DP_ENOMEM.  Thread-safe. */
DP_API DP_MUST_CHECK dp_status dp_parties_parse(size_t n, const char *text, const char *file,
                                                dp_parties **parties, dp_error *err)
    DP_NONNULL(2, 3, 4);

/* The same from a file that nobody but its owner may write.  DP_EIO; DP_EPRIVACY others may. */
DP_API DP_MUST_CHECK dp_status dp_parties_load(const char *path, dp_parties **parties,
                                               dp_error *err) DP_NONNULL(1, 2);

/* 3 or 4. */
DP_API size_t dp_parties_count(const dp_parties *parties) DP_NONNULL(1);

/* NULL is allowed. */
DP_API void dp_parties_free(dp_parties *parties);

/* ---- a party ---- */

typedef struct dp_party_opts {
    const dp_parties *parties;
    size_t id;                   /* which of them this is */
    const dp_identity *identity; /* all three borrowed as long as the party */
    const char *policy, *log;    /* files: who may ask what, and who asked when (doc/man) */
    const char *host, *port;     /* to listen at; NULL: those of its line */
    size_t lanes;                /* of a session, at most 24; 0: 1.  Each is a thread */
    size_t records;              /* of a query, at most 65536; 0: 1024 */
    size_t sessions;             /* at a time; 0: 16.  Who comes beyond is told that it is busy */
    size_t sessions_each;        /* of one client; 0: half of them */
    uint32_t timeout_ms;         /* for another side's next message within a query; 0: 30 000 */
    uint32_t idle_ms;            /* between queries, after which a session is ended; 0: 60 000 */
} dp_party_opts;

typedef struct dp_party dp_party;

/* A party that listens, and does not answer yet.  It has no model until the provider shares one,
 * and keeps it in memory alone.
 *   *party  [out] freed by dp_party_free; NULL on error
 * DP_EINVAL the identity is not that of its line, or other options; DP_EPRIVACY the policy does not
 * allow hm3 (three parties) or hm4 (four) in mode shared; DP_EUNSUPPORTED the policy's `returns` is
 * neither scores nor label; DP_EDATA, DP_EIO of policy and log; DP_ENAME, DP_ENOMEM. */
DP_API DP_MUST_CHECK dp_status dp_party_new(const dp_party_opts *opts, dp_party **party,
                                            dp_error *err) DP_NONNULL(1, 2);

/* Where it listens. */
DP_API int dp_party_port(const dp_party *party) DP_NONNULL(1);

/* Works until dp_party_stop, each session in a thread of its own.  Errors as of dp_server_run. */
DP_API DP_MUST_CHECK dp_status dp_party_run(dp_party *party, dp_error *err) DP_NONNULL(1);

/* Has dp_party_run return: sessions between queries end at once, and queries that have begun have
 * timeout_ms to end.  From any thread, or a signal handler. */
DP_API void dp_party_stop(dp_party *party) DP_NONNULL(1);

/* When nothing runs it.  NULL is allowed. */
DP_API void dp_party_free(dp_party *party);

/* ---- the provider ---- */

typedef struct dp_share_opts {
    const dp_program *program;   /* fixed, with weights */
    const dp_identity *identity; /* the provider's */
    const dp_parties *parties;
    uint32_t timeout_ms; /* for a party's next message; 0: 30 000 */
    /* Shifts of relus round up or down by chance, which saves one or two rounds of each and some
     * two fifths of all bytes.  Clients must allow it: DP_ALLOW_PROBABILISTIC. */
    bool probabilistic;
} dp_share_opts;

/* Gives each party its part of the weights, from which it learns nothing of them, and the sheet.
 * Replaces the model that they had: sessions that have begun go on with that one.  Every call
 * shares afresh.
 * DP_EREFUSED a party refused, with the reason: another provider is named there, or its policy
 * tells labels alone and the program does not end with one; DP_EUNSUPPORTED a stage, which is
 * named, cannot be computed so, or no shift of the program can round by chance; DP_ESTATE a program
 * without weights; DP_EPEER, DP_ETIMEOUT, DP_ENAME, DP_EINVAL, DP_ENOMEM.  Some parties may have
 * the new model then, and queries are refused until all have one.  Thread-safe. */
DP_API DP_MUST_CHECK dp_status dp_share_program(const dp_share_opts *opts, dp_error *err)
    DP_NONNULL(1);

/* What a query takes: how often the parties wait for each other, one round after the other; bytes
 * of payload between the client and all parties, and between parties: what the dealer sends ahead,
 * from masks alone, and what is sent while they compute. */
typedef struct dp_shared_cost {
    size_t rounds;
    uint64_t up, down;
    uint64_t dealt, online;
    int bits; /* of the ring: 32, or 64 where a stage has more than 30 */
} dp_shared_cost;

/* What a query of so many records costs in one lane, of which the program's sheet is enough.
 * Without the few hundred bytes that four parties compare before they tell the answer.
 *   parties        3 or 4
 *   probabilistic  as the model is shared
 * DP_EUNSUPPORTED a stage, which is named, cannot be computed so; DP_EINVAL; DP_ENOMEM: all 0 then.
 * Thread-safe. */
DP_API DP_MUST_CHECK dp_status dp_parties_cost(const dp_program *p, size_t parties, size_t records,
                                               bool probabilistic, dp_shared_cost *cost,
                                               dp_error *err) DP_NONNULL(1, 5);

/* ---- the client ---- */

/* Answers of a model that was shared as probabilistic are taken.  They are off those of
 * dp_program_run_exact in their last places, and each number that is shifted is wrong altogether
 * with a probability of 2^-24 at most: then the answer may be anything, of four parties too.  A
 * party that comes to know an answer to the last place may learn of places that were shifted away
 * (doc/design/share-trio.md). */
enum { DP_ALLOW_PROBABILISTIC = 2 };

typedef struct dp_ask_parties_opts {
    const dp_identity *identity; /* borrowed */
    const dp_parties *parties;   /* borrowed while the session is opened */
    const unsigned char *hash;   /* [DP_PROGRAM_HASH] of the program that is meant; NULL: any */
    size_t records; /* of one query, at most; dp_ask_many asks for more by several.  0: 128 */
    size_t lanes;   /* among which the records of a query are divided, each with the parties in
                     * other roles; as many as all parties allow, at most.  0: 1 */
    uint32_t
        timeout_ms; /* for a party's next message, and for each stage of the program; 0: 30 000 */
    unsigned flags; /* DP_ALLOW_PROBABILISTIC, or 0: exact answers alone */
} dp_ask_parties_opts;

/* Opens a session with all parties; dp_ask_program, dp_ask_query, dp_ask_many, dp_ask_counts and
 * dp_ask_free are those of tacit/serve.h.  A query of n records costs n of the budget at each
 * party.
 *   *ask  [out] freed with dp_ask_free; NULL on error
 * DP_EREFUSED with the reason; DP_EPRIVACY the model rounds by chance and `flags` do not allow it;
 * DP_EPEER a party has another fingerprint, or what they say differs, or one breaks the protocol or
 * has gone; DP_ETIMEOUT; DP_EUNSUPPORTED; DP_ENAME; DP_ENOMEM. */
DP_API DP_MUST_CHECK dp_status dp_ask_parties_new(const dp_ask_parties_opts *opts, dp_ask **ask,
                                                  dp_error *err) DP_NONNULL(1, 2);

#ifdef __cplusplus
}
#endif
#endif
