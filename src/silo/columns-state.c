/* Of dpi_silo_state, a letter of this owner's takes the place of a round:
 *
 *   round      letters that have left, or were about to
 *   question   the chain then, that letter in it
 *   x          a hash of the records under `self`: four words, with which the chain begins
 *   self       of all that is drawn, together with the identity
 *
 * Letters are counted as they leave in this process.  One that is counted below `round` has left,
 * as a later one had its turn; the one at `round` may have, and goes again, as it is the same; one
 * behind it is new, and is in the state first.  The end counts as a letter to nobody, behind what
 * has come last. */
#include "silo/columns-state.h"

#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "silo/state.h"

enum { WORDS = 4, HASH = 32 };

struct dpi_columns_state {
    dpi_silo_state kept;
    dpi_carrier *carrier;
    const dpi_post *post; /* NULL: not met yet */
    unsigned char secret[HASH], chain[HASH];
    uint64_t letters; /* that left, or had left, in this process */
    bool is_new;      /* the last of them did not leave before */
};

/* ---- secrets ---- */

void dpi_columns_state_key(const dpi_columns_state *s, const char *purpose, uint64_t step, size_t n,
                           const void *bytes, unsigned char key[32])
{
    unsigned char context[HASH], own[HASH];
    if (s->post == NULL)
        dpi_misuse(__func__, "before keys are exchanged");
    dpi_post_context(s->post, step, s->chain, purpose, context);
    dpi_silo_mix(s->secret, "context", sizeof context, context, own);
    dpi_silo_mix(own, "bytes", n, bytes, key);
    sodium_memzero(own, sizeof own);
}

void dpi_columns_state_name(const dpi_columns_state *s, char name[DPI_COLUMNS_NAME])
{
    dpi_silo_state_name(&s->kept, name);
}

/* ---- opening ---- */

static dp_status check_records(dpi_columns_state *s, const unsigned char records[HASH],
                               dp_error *err)
{
    uint64_t words[WORDS];
    dpi_silo_mix(s->kept.self, "records", HASH, records, s->chain);
    memcpy(words, s->chain, sizeof words);
    if (s->kept.n == 0 && s->kept.round == 0)
        return dpi_silo_state_begin(&s->kept, 0, s->chain, WORDS, words, err);
    if (s->kept.n == WORDS && memcmp(s->kept.x, words, sizeof words) == 0)
        return DP_OK;
    return dpi_fail(err, DP_ESTATE,
                    "the run in %.200s was begun with other rows: ids, columns or outcomes are not "
                    "those of then; go on with these, or make a new plan",
                    s->kept.path);
}

dp_status dpi_columns_state_new(const char *path, const dpi_post_opts *post,
                                const unsigned char records[32], dpi_columns_state **state,
                                dp_error *err)
{
    unsigned char whose[DPI_SILO_HASH];
    dpi_columns_state *s = dpi_alloc(1, sizeof *s);
    *state = NULL;
    if (s == NULL)
        return dpi_fail_nomem(err);
    *s = (dpi_columns_state){.carrier = post->carrier};
    dpi_silo_state_whose(post->plan, post->publics[post->party], whose);
    dp_status status = dpi_silo_state_open(path, whose, &s->kept, err);
    if (status == DP_OK)
        status = check_records(s, records, err);
    dpi_silo_mix(s->kept.self, "identity", DPI_SILO_SECRET, post->secret, s->secret);
    if (status == DP_OK)
        *state = s;
    else
        dpi_columns_state_free(s);
    return status;
}

void dpi_columns_state_free(dpi_columns_state *s)
{
    if (s == NULL)
        return;
    dpi_silo_state_free(&s->kept);
    sodium_memzero(s, sizeof *s);
    dpi_free(s);
}

bool dpi_columns_state_begun(const dpi_columns_state *s)
{
    return s->kept.round > DPI_COLUMNS_LINKING;
}

/* In the first step columns leave, too. */
uint64_t dpi_columns_state_steps(uint64_t letters, uint64_t steps)
{
    const uint64_t before = DPI_COLUMNS_LINKING + 1, more = letters > before ? letters - before : 0;
    return more < steps ? more : steps;
}

/* ---- letters ---- */

/* A state that knows of no such letter is older than one that stands there. */
static dp_status check_absent(const dpi_columns_state *s, const char *tag, dp_error *err)
{
    unsigned char *bytes = NULL;
    size_t n;
    dp_error found = {DP_OK, ""};
    dp_status status = s->carrier->kind->get(s->carrier, tag, 0, 0, &n, &bytes, &found);
    dpi_free(bytes);
    if (status == DP_ETIMEOUT)
        return DP_OK;
    if (status != DP_OK && status != DP_EPEER) /* longer than none */
        return dpi_fail(err, status, "%s", found.text);
    return dpi_fail(
        err, DP_ESTATE,
        "the letter %.150s is in the mailbox, and this state does not know of it: it is an "
        "older copy, or somebody else has written that; go on with the newest, or make "
        "a new plan",
        tag);
}

static dp_status keep_new(dpi_columns_state *s, dp_error *err)
{
    s->is_new = true;
    s->kept.round = s->letters;
    memcpy(s->kept.question, s->chain, HASH);
    return dpi_silo_state_keep(&s->kept, err);
}

static dp_status check_chain(const dpi_columns_state *s, dp_error *err)
{
    if (sodium_memcmp(s->chain, s->kept.question, HASH) == 0)
        return DP_OK;
    return dpi_fail(err, DP_EPRIVACY,
                    "what has come, or what this version or machine computes of it, is not what it "
                    "was before this run ended, and sums would be opened a second time with other "
                    "numbers: nothing more leaves; bring back the mailbox of then, or make a new "
                    "plan");
}

static dp_status record(void *of, bool leaves, const char *tag,
                        const unsigned char hash[DPI_SILO_DIGEST], bool *held, dp_error *err)
{
    dpi_columns_state *s = of;
    dpi_silo_mix(s->chain, leaves ? "leaves" : "comes", DPI_SILO_DIGEST, hash, s->chain);
    *held = false;
    if (!leaves)
        return DP_OK;
    s->letters++;
    *held = s->letters < s->kept.round;
    if (*held)
        return DP_OK;
    if (s->letters == s->kept.round)
        return check_chain(s, err);
    dp_status status = s->is_new ? DP_OK : check_absent(s, tag, err);
    return status == DP_OK ? keep_new(s, err) : status;
}

dp_status dpi_columns_state_end(dpi_columns_state *s, dp_error *err)
{
    dpi_silo_mix(s->chain, "ends", 0, NULL, s->chain);
    s->letters++;
    return s->letters > s->kept.round ? keep_new(s, err) : check_chain(s, err);
}

dp_status dpi_columns_state_meet(dpi_columns_state *s, const dpi_post_opts *opts, dpi_post **post,
                                 dp_error *err)
{
    dpi_post_opts o = *opts;
    o.record = record;
    o.record_of = s;
    dp_status status = dpi_silo_state_meet(&s->kept, &o, post, err);
    s->post = *post;
    return status;
}
