/* Of dpi_silo_state, for a run of three parties:
 *
 *   round      2 t - 1: ready with step t; 2 t: opening it; 2 openings + 1: over; 0: no piece yet
 *   question   a hash of what was opened before step t
 *   set        1: all three are over
 *   x          words: a hash of the records; rows; of each party, a hash of its ids as they came;
 *              the sessions of the two pieces; coefficients before step t, or of a run that is
 *              over; the piece of step t - 1; that of step t
 *
 * A session is what the three have told each other when they met.  Pieces of one session belong
 * together, and of two they are no shares of anything. */
#include "silo/trio-state.h"

#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"

enum { HASH = 32, WORDS = HASH / 8 };
enum {
    RECORDS = 0,
    ROWS = RECORDS + WORDS,
    HEARD = ROWS + 1,
    SESSION = HEARD + DPI_TRIO_PARTIES * WORDS,
    BEFORE = SESSION + WORDS,
    NUMBERS = BEFORE + WORDS /* behind it w[d], before[d], piece[d] */
};

struct dpi_trio_state {
    dpi_silo_state kept;
    size_t self, d, rows;
    uint64_t openings;
    unsigned char secret[HASH], nonce[HASH];
    unsigned char session[HASH]; /* this one */
    unsigned char expected[HASH];
    bool expects;    /* what is opened again comes to `expected`, as another has it */
    uint64_t first;  /* 0: not met */
    bool again, has; /* the step before is opened again; this party has what it came to */
};

/* Whether a step's piece may have left; which step a round is of. */
static bool is_opening(uint64_t round)
{
    return round > 0 && round % 2 == 0;
}

static uint64_t step_of(uint64_t round)
{
    return round / 2 + round % 2;
}

static uint64_t *numbers(const dpi_trio_state *s, size_t which)
{
    return s->kept.x + NUMBERS + which * s->d;
}

enum { COEFFICIENTS, PIECE_BEFORE, PIECE };

/* ---- opening the file ---- */

static dp_status check_records(dpi_trio_state *s, const unsigned char records[HASH], dp_error *err)
{
    uint64_t own[WORDS];
    unsigned char hash[HASH];
    const size_t n = NUMBERS + 3 * s->d;
    dpi_silo_mix(s->kept.self, "records", HASH, records, hash);
    memcpy(own, hash, sizeof own);
    if (s->kept.n == 0 && s->kept.round == 0) {
        static const unsigned char none[HASH];
        uint64_t *x = dpi_alloc(n, sizeof *x);
        if (x == NULL)
            return dpi_fail_nomem(err);
        memcpy(x + RECORDS, own, sizeof own);
        dp_status status = dpi_silo_state_begin(&s->kept, 0, none, n, x, err);
        dpi_free(x);
        return status;
    }
    if (s->kept.n != n || s->kept.round > 2 * s->openings + 1)
        return dpi_fail(err, DP_EDATA,
                        "the state %.200s is of a run with other steps or columns; it is damaged, "
                        "and this run cannot go on",
                        s->kept.path);
    return memcmp(s->kept.x + RECORDS, own, sizeof own) == 0
               ? DP_OK
               : dpi_fail(err, DP_ESTATE,
                          "the run in %.200s was begun with other rows: ids, columns or outcomes "
                          "are not those of then; go on with these, or make a new plan",
                          s->kept.path);
}

dp_status dpi_trio_state_new(const dpi_trio_state_opts *o, dpi_trio_state **state, dp_error *err)
{
    dpi_trio_state *s = dpi_alloc(1, sizeof *s);
    *state = NULL;
    if (s == NULL)
        return dpi_fail_nomem(err);
    *s = (dpi_trio_state){.self = o->self, .d = o->d, .openings = o->openings};
    dp_status status = dpi_silo_state_open(o->path, o->whose, &s->kept, err);
    if (status == DP_OK)
        status = check_records(s, o->records, err);
    if (status == DP_OK) {
        s->rows = (size_t)s->kept.x[ROWS];
        dpi_silo_mix(s->kept.self, "identity", DPI_SILO_SECRET, o->secret, s->secret);
        *state = s;
    } else
        dpi_trio_state_free(s);
    return status;
}

void dpi_trio_state_free(dpi_trio_state *s)
{
    if (s == NULL)
        return;
    dpi_silo_state_free(&s->kept);
    sodium_memzero(s, sizeof *s);
    dpi_free(s);
}

bool dpi_trio_state_begun(const dpi_trio_state *s)
{
    return s->kept.round > 0;
}

uint64_t dpi_trio_state_reached(const dpi_silo_state *file, uint64_t openings, bool *over)
{
    const uint64_t step = step_of(file->round);
    *over = step > openings;
    return *over ? openings : step;
}

bool dpi_trio_state_is_over(const dpi_trio_state *s)
{
    return step_of(s->kept.round) > s->openings;
}

bool dpi_trio_state_is_closed(const dpi_trio_state *s)
{
    return dpi_trio_state_is_over(s) && s->kept.set != 0;
}

void dpi_trio_state_name(const dpi_trio_state *s, char name[DPI_SILO_STATE_NAME])
{
    dpi_silo_state_name(&s->kept, name);
}

/* ---- which rows ---- */

void dpi_trio_state_key(const dpi_trio_state *s, const char *purpose, size_t peer, size_t n,
                        const void *bytes, unsigned char key[32])
{
    const unsigned char to = (unsigned char)peer;
    unsigned char own[HASH];
    dpi_silo_mix(s->secret, purpose, 1, &to, own);
    dpi_silo_mix(own, "bytes", n, bytes, key);
    sodium_memzero(own, sizeof own);
}

dp_status dpi_trio_state_heard(dpi_trio_state *s, size_t peer, const unsigned char hash[32],
                               dp_error *err)
{
    uint64_t *heard = s->kept.x + HEARD + peer * WORDS, now[WORDS];
    memcpy(now, hash, sizeof now);
    if (sodium_is_zero((const unsigned char *)heard, sizeof now)) {
        memcpy(heard, now, sizeof now);
        return dpi_silo_state_keep(&s->kept, err);
    }
    return memcmp(heard, now, sizeof now) == 0
               ? DP_OK
               : dpi_fail(err, DP_EPRIVACY,
                          "party %zu has sent other ids than before this run ended, or has begun "
                          "anew; one list is answered: it must go on with its state of then, or "
                          "all need a new plan",
                          peer);
}

dp_status dpi_trio_state_rows(dpi_trio_state *s, size_t rows, dp_error *err)
{
    if (s->rows != 0 && s->rows != rows)
        return dpi_fail(err, DP_EPEER,
                        "%zu rows are told to be common, and before this run ended %zu were; "
                        "nothing more is opened",
                        rows, s->rows);
    s->rows = rows;
    return DP_OK;
}

size_t dpi_trio_state_has_rows(const dpi_trio_state *s)
{
    return s->rows;
}

/* ---- where to go on ---- */

typedef struct trio_place {
    uint64_t round, step;
    const unsigned char *session, *before, *chain;
} trio_place;

static trio_place place_of(const unsigned char told[DPI_TRIO_TOLD])
{
    trio_place p = {.round = dpi_get_number(told)};
    p.step = step_of(p.round);
    p.session = told + 8 + HASH;
    p.before = p.session + HASH;
    p.chain = p.before + HASH;
    return p;
}

void dpi_trio_state_tell(dpi_trio_state *s, unsigned char told[DPI_TRIO_TOLD])
{
    randombytes_buf(s->nonce, sizeof s->nonce);
    dpi_put_number(told, s->kept.round);
    memcpy(told + 8, s->nonce, HASH);
    memcpy(told + 8 + HASH, s->kept.x + SESSION, HASH);
    memcpy(told + 8 + 2 * HASH, s->kept.x + BEFORE, HASH);
    memcpy(told + 8 + 3 * HASH, s->kept.question, HASH);
}

static dp_status fail_older(const char *called, dp_error *err)
{
    return dpi_fail(err, DP_ESTATE,
                    "%s is not where it can be: what was opened is not what its state knows of; it "
                    "has an older copy, or has begun anew; bring back the newest states of all "
                    "three, or make a new plan",
                    called);
}

static bool same(const unsigned char *a, const unsigned char *b)
{
    return memcmp(a, b, HASH) == 0;
}

/* All stand at one step.  Pieces of one session are opened as they are, whether or not they were;
 * of several, the step was never opened, as nobody does before all are ready in one session. */
static dp_status meet_at_one(dpi_trio_state *s, const trio_place *all, const char *const *called,
                             dp_error *err)
{
    const uint64_t step = all[0].step;
    bool opening = false, alike = true;
    for (size_t k = 0; k < DPI_TRIO_PARTIES; k++) {
        opening = opening || is_opening(all[k].round);
        alike = alike && same(all[k].session, all[0].session);
        if (!same(all[k].chain, all[s->self].chain))
            return fail_older(called[k], err);
    }
    s->again = step > 0 && step <= s->openings && alike;
    s->first = step + (s->again || step == 0);
    if (!alike && opening)
        return dpi_fail(err, DP_ESTATE,
                        "a sum may have been opened of which the parties have no common pieces: "
                        "one has an older copy; make a new plan");
    return DP_OK;
}

/* Some are a step ahead of the others, and have what comes of the step that these may not have. */
static dp_status meet_at_two(dpi_trio_state *s, const trio_place *all, uint64_t least,
                             const char *const *called, dp_error *err)
{
    const trio_place *own = &all[s->self], *ahead = NULL;
    const bool leads = own->step > least;
    const unsigned char *session = leads ? own->before : own->session;
    for (size_t k = 0; k < DPI_TRIO_PARTIES; k++) {
        const bool is_ahead = all[k].step > least;
        const trio_place *of_its = is_ahead ? ahead : NULL;
        if ((is_ahead && is_opening(all[k].round)) ||
            (least > 0 && !same(is_ahead ? all[k].before : all[k].session, session)) ||
            (of_its != NULL && !same(all[k].chain, of_its->chain)) ||
            (!is_ahead && !leads && !same(all[k].chain, own->chain)))
            return fail_older(called[k], err);
        if (is_ahead)
            ahead = &all[k];
    }
    s->again = least > 0;
    s->has = s->again && leads;
    s->expects = s->again && !leads;
    s->first = least + 1;
    memcpy(s->expected, ahead->chain, HASH);
    return DP_OK;
}

dp_status dpi_trio_state_meet(dpi_trio_state *s, unsigned char *const told[DPI_TRIO_PARTIES],
                              const char *const called[DPI_TRIO_PARTIES], dp_error *err)
{
    trio_place all[DPI_TRIO_PARTIES];
    uint64_t least = UINT64_MAX, most = 0;
    size_t last = 0;
    crypto_generichash_state h;
    (void)crypto_generichash_init(&h, NULL, 0, HASH);
    for (size_t k = 0; k < DPI_TRIO_PARTIES; k++) {
        all[k] = place_of(told[k]);
        (void)crypto_generichash_update(&h, told[k], DPI_TRIO_TOLD);
        last = all[k].step < least ? k : last;
        least = all[k].step < least ? all[k].step : least;
        most = all[k].step > most ? all[k].step : most;
    }
    (void)crypto_generichash_final(&h, s->session, HASH);
    s->again = s->has = s->expects = false;
    if (most > s->openings + 1 || most - least > 1)
        return fail_older(called[last], err);
    return most == least ? meet_at_one(s, all, called, err)
                         : meet_at_two(s, all, least, called, err);
}

uint64_t dpi_trio_state_first(const dpi_trio_state *s)
{
    return s->first;
}

bool dpi_trio_state_opens_again(const dpi_trio_state *s)
{
    return s->again;
}

void dpi_trio_state_coefficients(const dpi_trio_state *s, int64_t *w)
{
    memcpy(w, numbers(s, COEFFICIENTS), s->d * sizeof *w);
}

bool dpi_trio_state_piece(const dpi_trio_state *s, uint64_t *piece)
{
    memcpy(piece, numbers(s, s->has ? PIECE_BEFORE : PIECE), s->d * sizeof *piece);
    return !s->has;
}

/* ---- an opening ---- */

/* The piece of the step that is over becomes that of the one before. */
static void move_on(dpi_trio_state *s)
{
    memcpy(s->kept.x + BEFORE, s->kept.x + SESSION, HASH);
    memcpy(numbers(s, PIECE_BEFORE), numbers(s, PIECE), s->d * sizeof *s->kept.x);
}

dp_status dpi_trio_state_ready(dpi_trio_state *s, uint64_t step, const int64_t *w,
                               const uint64_t *piece, dp_error *err)
{
    const uint64_t at = step_of(s->kept.round);
    if (s->first == 0 || step < 1 || step > s->openings || (step != at && step != at + 1) ||
        (step == at && (step != s->first || is_opening(s->kept.round))))
        dpi_misuse(__func__, "a step that was opened, or is not the next");
    if (step > at)
        move_on(s);
    s->kept.round = 2 * step - 1;
    s->kept.x[ROWS] = s->rows;
    memcpy(s->kept.x + SESSION, s->session, HASH);
    memcpy(numbers(s, COEFFICIENTS), w, s->d * sizeof *w);
    memcpy(numbers(s, PIECE), piece, s->d * sizeof *piece);
    return dpi_silo_state_keep(&s->kept, err);
}

dp_status dpi_trio_state_opening(dpi_trio_state *s, dp_error *err)
{
    if (s->has || is_opening(s->kept.round)) /* it is told again, and known to have left */
        return DP_OK;
    s->kept.round++;
    return dpi_silo_state_keep(&s->kept, err);
}

dp_status dpi_trio_state_opened(dpi_trio_state *s, const int64_t *h, dp_error *err)
{
    const bool expects = s->expects, has = s->has;
    s->expects = s->has = false;
    if (has)
        return DP_OK;
    dpi_silo_mix(s->kept.question, "opened", s->d * sizeof *h, h, s->kept.question);
    return !expects || memcmp(s->kept.question, s->expected, HASH) == 0
               ? DP_OK
               : dpi_fail(err, DP_EPEER,
                          "a sum that is opened again is not what it was at another party; nothing "
                          "more is opened");
}

/* ---- the end ---- */

dp_status dpi_trio_state_over(dpi_trio_state *s, const int64_t *w, dp_error *err)
{
    if (dpi_trio_state_is_over(s))
        return DP_OK;
    move_on(s);
    s->kept.round = 2 * s->openings + 1;
    memcpy(numbers(s, COEFFICIENTS), w, s->d * sizeof *w);
    return dpi_silo_state_keep(&s->kept, err);
}

dp_status dpi_trio_state_close(dpi_trio_state *s, dp_error *err)
{
    s->kept.set = 1;
    return dpi_silo_state_keep(&s->kept, err);
}
