/* What ties a journal to a fit is the model, the options and, with a ledger, the entry that pays.
 * Nothing in it is computed from records, so without a ledger the caller's word says that the data
 * are the same; were they not, no record would be in more releases than were paid for. */
#include "infer/resume.h"

#include <string.h>

#include "base/error.h"
#include "ledger/contents.h"
#include "ledger/store.h"
#include "model/store.h"

dp_status dpi_resume_check(const dp_fit_opts *o, dp_error *err)
{
    if (o->journal == NULL)
        return o->resume ? dpi_fail(err, DP_EINVAL,
                                    "resume is asked for without a journal; name the one of the "
                                    "fit that is to go on")
                         : DP_OK;
    if (o->journal[0] == '\0')
        return dpi_fail(err, DP_EINVAL, "the journal has an empty path; give one, or NULL");
    if (o->mode != DP_PRIVATE)
        return dpi_fail(err, DP_EINVAL,
                        "a journal keeps what was paid for, and a fit without privacy pays "
                        "nothing; leave it NULL");
    return DP_OK;
}

static dpi_journal_run run_of(const dpi_resume *r)
{
    const dp_fit_opts *o = r->opts;
    dpi_journal_run run = {.epsilon = o->epsilon,
                           .delta = o->delta,
                           .clip = o->clip,
                           .rounds = r->rounds,
                           .draws = o->draws,
                           .seed = o->seed,
                           .random = r->random,
                           .phases = r->n};
    dpi_model_print(r->model, run.model);
    for (size_t k = 0; k < r->n; k++)
        run.releases += r->list[k].steps;
    return run;
}

/* What differs, in words; NULL: nothing. */
static const char *difference(const dpi_journal_run *was, const dpi_journal_run *now)
{
    return memcmp(was->model, now->model, sizeof now->model) != 0 ? "another model"
           : was->epsilon != now->epsilon                         ? "another epsilon"
           : was->delta != now->delta                             ? "another delta"
           : was->rounds != now->rounds                           ? "another number of rounds"
           : was->clip != now->clip                               ? "another clip norm"
           : was->draws != now->draws                             ? "another number of draws"
           : was->seed != now->seed || (now->random != 0 && was->random != now->random)
               ? "another seed"
           : was->releases != now->releases || was->phases != now->phases
               ? "another plan of releases"
               : NULL;
}

static dp_status check_ledger(const dpi_resume *r, const dpi_journal_run *was, dp_error *err)
{
    const dp_ledger *ledger = r->opts->ledger;
    if (was->ledgered && ledger == NULL)
        return dpi_fail(err, DP_EPRIVACY,
                        "this fit was reserved in a ledger (entry %llu), which must count what it "
                        "goes on with; give that ledger",
                        (unsigned long long)was->entry);
    if (!was->ledgered && ledger != NULL)
        return dpi_fail(err, DP_EPRIVACY,
                        "this fit was begun without a ledger, which cannot know what it has spent; "
                        "go on without one, or begin a new fit");
    if (was->ledgered && memcmp(was->ledger, ledger->identity, sizeof was->ledger) != 0)
        return dpi_fail(err, DP_EMISMATCH,
                        "this fit was reserved in another ledger; give that one");
    return DP_OK;
}

static dp_status open_old(dpi_resume *r, dp_error *err)
{
    dpi_keeper *k = r->keeper;
    dpi_journal_run now = run_of(r);
    dp_status status = dpi_journal_open(r->opts->journal, &k->journal, err);
    if (status != DP_OK)
        return status;
    const dpi_journal_run *was = dpi_journal_run_of(k->journal);
    const char *other = difference(was, &now);
    if (other != NULL)
        return dpi_fail(err, DP_EMISMATCH,
                        "the journal %.200s is of a fit with %s; ask for that one, or give this "
                        "fit another journal",
                        r->opts->journal, other);
    for (uint64_t p = 0; p < r->n; p++)
        if (dpi_journal_count_of(k->journal, p) > r->list[p].steps)
            return dpi_fail(err, DP_EDATA,
                            "the journal %.200s has more releases than were planned; it is "
                            "damaged",
                            r->opts->journal);
    r->random = was->random;
    return check_ledger(r, was, err);
}

dp_status dpi_resume_open(dpi_resume *r, dp_error *err)
{
    dp_rng *rng = NULL;
    r->keeper->seeded = r->opts->seed != 0;
    r->random = r->opts->owners != NULL ? r->opts->owners->seed : r->opts->seed;
    if (r->opts->resume)
        return open_old(r, err);
    dp_status status = r->random != 0 ? DP_OK : dp_rng_new_random(&rng, &r->random, err);
    dp_rng_free(rng);
    return status;
}

/* The entry that the journal names; what the journal has is paid, and what remains must be. */
static dp_status take_over(dpi_resume *r, dpi_purpose *what, dp_reservation **reservation,
                           dp_error *err)
{
    dpi_keeper *k = r->keeper;
    uint64_t done[DPI_JOURNAL_PHASES], remaining[DPI_JOURNAL_PHASES];
    for (uint64_t p = 0; p < r->n; p++) {
        done[p] = dpi_journal_count_of(k->journal, p);
        remaining[p] = r->list[p].steps - done[p];
    }
    const dpi_resumption entry = {.id = dpi_journal_run_of(k->journal)->entry,
                                  .n = r->n,
                                  .done = done,
                                  .remaining = remaining,
                                  .repeats = r->opts->owners != NULL && r->opts->owners->repeats};
    dp_status status =
        dpi_reserve_again(r->opts->ledger, &entry, what, k->before, reservation, err);
    for (uint64_t p = 0; p < r->n && status == DP_OK; p++)
        k->before[p] -= done[p];
    return status;
}

dp_status dpi_resume_reserve(dpi_resume *r, dpi_purpose *what, dp_reservation **reservation,
                             dp_error *err)
{
    static const uint64_t none[DPI_JOURNAL_PHASES];
    const dp_fit_opts *o = r->opts;
    what->spending.data = o->ledger_data;
    what->spending.label = o->ledger_label;
    what->spending.list = r->list;
    what->spending.n = r->n;
    dp_status status = o->resume ? take_over(r, what, reservation, err)
                                 : dpi_reserve(o->ledger, what, reservation, err);
    if (status == DP_OK && !o->resume && o->journal != NULL)
        status = dpi_reservation_mark(*reservation, none, err);
    r->keeper->reservation = *reservation;
    return status;
}

dp_status dpi_resume_begin(dpi_resume *r, dp_error *err)
{
    dpi_journal_run run = run_of(r);
    const dp_reservation *paid = r->keeper->reservation;
    if (r->opts->journal == NULL || r->opts->resume)
        return DP_OK;
    if (paid != NULL) {
        run.ledgered = 1;
        run.entry = dpi_reservation_id(paid);
        memcpy(run.ledger, r->opts->ledger->identity, sizeof run.ledger);
    }
    return dpi_journal_new(r->opts->journal, &run, &r->keeper->journal, err);
}
