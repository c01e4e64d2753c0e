#include "tests/serve/between.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"
#include "tests/lib/pause.h"

enum { MOST_OPEN = 64 };

static session *present;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const dpi_lane *lane;
    struct lane_seen *seen;
} open_lanes[MOST_OPEN];

session *session_begin(const deed *d)
{
    session *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->deed = *d;
    for (size_t m = 0; m < DAEMONS; m++)
        for (size_t k = 0; k < BETWEEN_LANES; k++)
            s->lane[m][k] = (struct lane_seen){.of = s, .machine = m, .lane = k};
    s->before = present;
    present = s;
    return s;
}

void session_forget_all(void)
{
    for (session *before; present != NULL; present = before) {
        before = present->before;
        for (size_t m = 0; m < DAEMONS; m++)
            for (size_t k = 0; k < BETWEEN_LANES; k++)
                free(present->lane[m][k].model.part[0]);
        free(present);
    }
}

static bool does(const struct lane_seen *l, deed_kind kind)
{
    const deed *d = &l->of->deed;
    return d->kind == kind && d->machine == l->machine && d->lane == l->lane;
}

static void turn_bit(unsigned char *bytes, size_t n, uint64_t random)
{
    const uint64_t bit = random % (8 * n);
    bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
}

/* ---- in the parties' threads ---- */

static void tamper(void *user, dpi_mesh_kind kind, size_t to, unsigned char *bytes, size_t n)
{
    struct lane_seen *l = user;
    const deed *d = &l->of->deed;
    const size_t number = l->sent[to][kind]++;
    l->bytes[to][kind] += n;
    if (d->to != to || d->message != kind || d->number != number)
        return;
    if (does(l, TURN_A_BIT))
        turn_bit(bytes, n, d->random);
    else if (does(l, FALL_SILENT))
        pause_for((long)d->random);
    else
        return;
    l->of->done++;
}

dp_status __real_dpi_mesh_new(const dpi_mesh_opts *o, dpi_mesh **mesh, dp_error *err);
dp_status __wrap_dpi_mesh_new(const dpi_mesh_opts *o, dpi_mesh **mesh, dp_error *err);
dp_status __wrap_dpi_mesh_new(const dpi_mesh_opts *o, dpi_mesh **mesh, dp_error *err)
{
    const size_t lane = ((const unsigned char *)o->context)[o->context_bytes - 1];
    const size_t machine = dpi_parties_machine(o->parties, lane, o->role);
    dpi_mesh_opts own = *o;
    own.tamper = tamper;
    own.user = &present->lane[machine][lane];
    return __real_dpi_mesh_new(&own, mesh, err);
}

static struct lane_seen *seen_of(const dpi_lane *lane, bool forget)
{
    struct lane_seen *seen = NULL;
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < MOST_OPEN && seen == NULL; i++)
        if (open_lanes[i].lane == lane) {
            seen = open_lanes[i].seen;
            if (forget)
                open_lanes[i].lane = NULL;
        }
    (void)pthread_mutex_unlock(&lock);
    return seen;
}

static void remember(const dpi_lane *lane, struct lane_seen *seen)
{
    size_t i = 0;
    (void)pthread_mutex_lock(&lock);
    while (i < MOST_OPEN && open_lanes[i].lane != NULL)
        i++;
    if (i == MOST_OPEN)
        abort();
    open_lanes[i].lane = lane;
    open_lanes[i].seen = seen;
    (void)pthread_mutex_unlock(&lock);
}

/* One bit of a seed, which this machine must have: not its own, nor that of what is sent. */
dp_status __real_dpi_lane_open(const dpi_lane_opts *o, dpi_lane **lane, dp_error *err);
dp_status __wrap_dpi_lane_open(const dpi_lane_opts *o, dpi_lane **lane, dp_error *err);
dp_status __wrap_dpi_lane_open(const dpi_lane_opts *o, dpi_lane **lane, dp_error *err)
{
    struct lane_seen *seen = &present->lane[o->model->machine][o->lane];
    unsigned char seed[DPI_SHARE_PARTIES][DPI_DEAL_SEED];
    dpi_lane_opts own = *o;
    if (does(seen, CHANGE_SEED)) {
        size_t c = seen->of->deed.random % o->parties->n;
        while (c == seen->machine || c == dpi_party_full(o->model->row, o->lane))
            c = (c + 1) % o->parties->n;
        memcpy(seed, o->seed, o->parties->n * sizeof *seed);
        turn_bit(seed[c], sizeof seed[c], seen->of->deed.random);
        own.seed = (const unsigned char(*)[DPI_DEAL_SEED])seed;
        seen->of->done++;
    }
    const dp_status status = __real_dpi_lane_open(&own, lane, err);
    if (status == DP_OK) {
        seen->of->opened++;
        remember(*lane, seen);
    }
    return status;
}

/* Another one of the first `number` weights than was given. */
dp_status __real_dpi_party_model_lane(dpi_party_model *model, size_t lane, const dpi_share **held,
                                      dp_error *err);
dp_status __wrap_dpi_party_model_lane(dpi_party_model *model, size_t lane, const dpi_share **held,
                                      dp_error *err);
dp_status __wrap_dpi_party_model_lane(dpi_party_model *model, size_t lane, const dpi_share **held,
                                      dp_error *err)
{
    struct lane_seen *seen = &present->lane[model->machine][lane];
    const dp_status status = __real_dpi_party_model_lane(model, lane, held, err);
    if (status != DP_OK || !does(seen, CHANGE_MODEL))
        return status;
    const size_t bytes = (*held)->n * dpi_ring_bytes(model->ring);
    const dpi_party p = {.row = model->row,
                         .role = dpi_parties_role(model->row->parties, lane, model->machine)};
    if (dpi_share_new(&p, model->ring, (*held)->n, &seen->model, err) != DP_OK)
        abort();
    for (size_t k = 0; k < model->row->parts[p.role]; k++)
        memcpy(seen->model.part[k], (*held)->part[k], bytes);
    const size_t weight = seen->of->deed.random % seen->of->deed.number;
    ((unsigned char *)seen->model.part[0])[weight * dpi_ring_bytes(model->ring)] ^= 8;
    *held = &seen->model;
    seen->of->done++;
    return status;
}

size_t __real_dpi_lane_tell(dpi_lane *l, size_t n, unsigned char *to);
size_t __wrap_dpi_lane_tell(dpi_lane *l, size_t n, unsigned char *to);
size_t __wrap_dpi_lane_tell(dpi_lane *l, size_t n, unsigned char *to)
{
    struct lane_seen *seen = seen_of(l, false);
    const size_t bytes = __real_dpi_lane_tell(l, n, to);
    if (does(seen, CHANGE_PIECE) && bytes > 0) {
        to[0] ^= 1;
        seen->of->done++;
    }
    seen->of->told[seen->machine]++;
    return bytes;
}

void __real_dpi_lane_close(dpi_lane *l);
void __wrap_dpi_lane_close(dpi_lane *l);
void __wrap_dpi_lane_close(dpi_lane *l)
{
    struct lane_seen *seen = l != NULL ? seen_of(l, true) : NULL;
    __real_dpi_lane_close(l);
    if (seen != NULL)
        seen->of->closed++;
}
