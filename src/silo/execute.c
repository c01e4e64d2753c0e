/* An interpreter of a few steps: what is not sent, received or computed by a kernel is the host's,
 * and ends a round. */
#define _POSIX_C_SOURCE 200809L
#include "silo/execute.h"

#include <sodium.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/error.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "registers are sent as they lie");

dp_status dpi_silo_machine_init(dpi_silo_machine *m, const dpi_silo_part *part, dp_error *err)
{
    m->part = part;
    m->values = dpi_alloc(part->n_registers, sizeof *m->values);
    if (m->values == NULL)
        return dpi_fail_nomem(err);
    memset(m->values, 0, part->n_registers * sizeof *m->values);
    return DP_OK;
}

static void drop(dpi_silo_value *v)
{
    if (v->bytes != NULL)
        sodium_memzero(v->bytes, v->n);
    dpi_free(v->bytes);
    *v = (dpi_silo_value){NULL, 0};
}

/* Whether a register's values are made once. */
static bool is_kept(const dpi_silo_machine *m, size_t reg)
{
    bool once = false;
    for (size_t j = 0; m->begun && j < m->part->n_steps; j++)
        once = once || (m->part->steps[j].once && m->part->steps[j].out == reg);
    return once;
}

static void drop_all(dpi_silo_machine *m)
{
    for (size_t r = 0; m->values != NULL && r < m->part->n_registers; r++) {
        if (is_kept(m, r))
            continue;
        for (size_t k = 0; k < DPI_SILO_PARTIES; k++)
            drop(&m->values[r].from[k]);
    }
}

void dpi_silo_machine_free(dpi_silo_machine *m)
{
    m->begun = false;
    drop_all(m);
    dpi_free(m->values);
    m->values = NULL;
}

static uint64_t round_of(const dpi_silo_machine *m, const dpi_silo_step *s)
{
    return s->once ? 0 : m->round;
}

/* Room for a register's value from a party. */
static dp_status make_value(dpi_silo_machine *m, uint16_t reg, size_t from, dpi_silo_value **v,
                            dp_error *err)
{
    *v = &m->values[reg].from[from];
    drop(*v);
    (*v)->n = dpi_silo_register_size(&m->part->registers[reg], m->n);
    (*v)->bytes = dpi_alloc((*v)->n + 1, 1);
    if ((*v)->bytes == NULL)
        return dpi_fail_nomem(err);
    memset((*v)->bytes, 0, (*v)->n);
    return DP_OK;
}

static dp_status send(dpi_silo_machine *m, const dpi_silo_step *s, dp_error *err)
{
    const dpi_silo_value *v = &m->values[s->out].from[m->part->party];
    if (v->bytes == NULL || v->n == 0)
        return DP_OK;
    return dpi_post_send(m->post, s->peer, round_of(m, s), 0, m->part->registers[s->out].name, v->n,
                         v->bytes, err);
}

/* Milliseconds for a party that was late before. */
enum { HARDLY = 200 };

static dp_status receive(dpi_silo_machine *m, const dpi_silo_step *s, dp_error *err)
{
    const uint64_t peer = (uint64_t)1 << s->peer;
    const bool may_lack = s->may_lack && (m->needed & peer) == 0;
    uint32_t wait = !may_lack ? 0 : (m->gone & peer) != 0 ? HARDLY : m->lack_ms;
    dpi_silo_value *v;
    dp_error found = {0};
    if (may_lack && (m->absent & peer) != 0)
        return DP_OK;
    dp_status status = make_value(m, s->out, s->peer, &v, err);
    if (status != DP_OK)
        return status;
    status = dpi_post_receive(m->post, s->peer, round_of(m, s), 0, m->part->registers[s->out].name,
                              wait, v->n, v->bytes, &found);
    if (status != DP_OK)
        drop(v);
    if (status == DP_ETIMEOUT && may_lack) {
        m->absent |= peer;
        return DP_OK;
    }
    return status == DP_OK ? DP_OK : dpi_fail(err, status, "%s", found.text);
}

static dp_status compute(dpi_silo_machine *m, const dpi_silo_step *s, dp_error *err)
{
    const dpi_silo_values *in[DPI_SILO_ARGS] = {NULL};
    dpi_silo_value *out;
    if (m->kernel[s->kind] == NULL)
        dpi_misuse(__func__, "a step without a kernel");
    for (int a = 0; a < dpi_silo_step_args(s->kind); a++)
        in[a] = &m->values[s->in[a]];
    dp_status status = make_value(m, s->out, m->part->party, &out, err);
    if (status == DP_OK)
        status = m->kernel[s->kind](m->of[s->kind], m, s, in, out, err);
    return status;
}

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The first step that is not the host's. */
static size_t begin_of(const dpi_silo_part *part)
{
    size_t at = 0;
    while (at < part->n_steps && dpi_silo_step_is_host(part->steps[at].kind))
        at++;
    if (at == 0 || at == part->n_steps)
        dpi_misuse(__func__, "a part that opens nothing, or nothing of a host's");
    return at;
}

dp_status dpi_silo_execute(dpi_silo_machine *m, size_t n, uint64_t *x, dp_error *err)
{
    size_t at = begin_of(m->part);
    dpi_silo_value *v;
    const dpi_silo_value *opened = NULL;
    m->n = n;
    dp_status status = make_value(m, m->part->steps[at - 1].out, m->part->party, &v, err);
    if (status == DP_OK && v->n != n * sizeof *x)
        dpi_misuse(__func__, "a register of another size");
    if (status == DP_OK)
        memcpy(v->bytes, x, v->n);
    for (; status == DP_OK && at < m->part->n_steps &&
           !dpi_silo_step_is_host(m->part->steps[at].kind);
         at++) {
        const dpi_silo_step *s = &m->part->steps[at];
        if (s->once && m->begun)
            continue;
        const double before = m->costs != NULL ? now() : 0;
        status = s->kind == DPI_SILO_SEND   ? send(m, s, err)
                 : s->kind == DPI_SILO_RECV ? receive(m, s, err)
                                            : compute(m, s, err);
        if (m->costs != NULL && !s->once && s->kind != DPI_SILO_RECV)
            dpi_silo_costs_learn(m->costs, s->kind, now() - before);
        if (s->kind == DPI_SILO_OPEN)
            opened = &m->values[s->out].from[m->part->party];
    }
    if (status == DP_OK && (opened == NULL || opened->n != n * sizeof *x))
        dpi_misuse(__func__, "a part that opens nothing");
    if (status == DP_OK)
        memcpy(x, opened->bytes, n * sizeof *x);
    m->begun = status == DP_OK;
    drop_all(m);
    return status;
}
