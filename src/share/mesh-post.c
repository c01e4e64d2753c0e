/* Messages of a mesh: a queue for each link, and one wait over all of them.
 *
 * Nobody waits in a circle.  All parties run one program.  Who waits for a message, or for room in
 * a queue that is full, waits for a party that is not so far in the program as itself, as long as
 * no two roles fill their queues to each other before they take; and while it waits it goes on with
 * sending to everybody.  So along a chain of waits the place in the program goes down, and whoever
 * is at its end does not wait. */
#define _XOPEN_SOURCE 700
#include <sched.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "share/mesh-parts.h"

enum { SMALLEST = 1024, ALIGNMENT = 64, FRAME = DPI_FRAME_OWN, LAYER = 1 };
enum { LITTLE = 1 << 14 /* bytes: about a record */, SOON = 50000 /* ns */ };

/* Frames are all of one layer, which is not the one that refusals are heard in: a message may be
 * taken in a later layer than it was posted in. */

/* ---- blocks ---- */

static size_t class_of(size_t n)
{
    size_t class = 0;
    while ((size_t)SMALLEST << class < n)
        class ++;
    return class;
}

unsigned char *dpi_mesh_bytes(dpi_mesh_block *b)
{
    _Static_assert(sizeof *b <= ALIGNMENT, "the bytes of a block begin after it");
    return (unsigned char *)b + ALIGNMENT;
}

dpi_mesh_block *dpi_mesh_block_new(dpi_mesh *m, size_t n)
{
    if (n > DPI_MESH_MOST)
        dpi_misuse(__func__, "a message is longer than DPI_MESH_MOST");
    size_t class = class_of(n);
    dpi_mesh_block *b = m->spare[class];
    if (b != NULL)
        m->spare[class] = b->next;
    else
        b = dpi_alloc(1, ALIGNMENT + ((size_t)SMALLEST << class));
    if (b != NULL)
        *b = (dpi_mesh_block){.n = n, .class = class};
    return b;
}

void dpi_mesh_block_free(dpi_mesh *m, dpi_mesh_block *b)
{
    b->next = m->spare[b->class];
    m->spare[b->class] = b;
}

void dpi_mesh_queue_add(dpi_mesh_queue *q, dpi_mesh_block *b)
{
    b->next = NULL;
    if (q->first == NULL)
        q->first = b;
    else
        q->last->next = b;
    q->last = b;
    q->bytes += ALIGNMENT + b->n;
}

dpi_mesh_block *dpi_mesh_queue_take(dpi_mesh_queue *q)
{
    dpi_mesh_block *b = q->first;
    if (b == NULL)
        return NULL;
    q->first = b->next;
    q->bytes -= ALIGNMENT + b->n;
    return b;
}

/* ---- links ---- */

/* The link's error is the mesh's. */
static bool fail_with(dpi_mesh *m, const dpi_mesh_link *l)
{
    const dp_error *e = dpi_wire_error(l->both.session);
    dpi_mesh_fail(m, e->status != DP_OK ? e->status : DP_EPEER, e->text);
    return false;
}

/* Goes on with what the link has, as far as can be without waiting. */
static bool go_on(dpi_mesh *m, dpi_mesh_link *l)
{
    dpi_wire_both *b = &l->both;
    for (;;) {
        dpi_mesh_block *next = l->out.first;
        b->more = next != NULL && next->next != NULL;
        if (!b->sends && next != NULL &&
            dpi_wire_both_send(b, next->frame, LAYER, dpi_mesh_bytes(next), next->n) != DP_OK)
            return fail_with(m, l);
        if (dpi_wire_both_go(b) != DP_OK)
            return fail_with(m, l);
        if (!b->sent)
            return true;
        b->sent = false;
        dpi_mesh_block_free(m, dpi_mesh_queue_take(&l->out));
    }
}

static bool busy(const dpi_mesh_link *l)
{
    return l->both.session != NULL && (l->out.first != NULL || l->both.receives);
}

static bool go_on_with_all(dpi_mesh *m)
{
    for (size_t j = 0; j < m->parties; j++)
        if (busy(&m->link[j]) && !go_on(m, &m->link[j]))
            return false;
    return true;
}

/* Waits until a link can go on. */
static bool wait(dpi_mesh *m, dpi_deadline d)
{
    dpi_wire_both *waits[DPI_SHARE_PARTIES];
    size_t n = 0;
    for (size_t j = 0; j < m->parties; j++)
        if (busy(&m->link[j]))
            waits[n++] = &m->link[j].both;
    dp_status status = dpi_wire_both_poll(waits, n, d);
    if (status != DP_OK)
        dpi_mesh_fail(m, status,
                      status == DP_ETIMEOUT ? "another party did not go on in time"
                                            : "the system cannot wait for the connections");
    return status == DP_OK;
}

/* Waits until at most so many bytes wait to be sent to a role. */
static void drain(dpi_mesh *m, size_t to, size_t most)
{
    const dpi_mesh_link *l = &m->link[to];
    dpi_deadline d = dpi_deadline_after(m->timeout);
    while (m->err.status == DP_OK && l->out.bytes > most)
        if (go_on_with_all(m) && l->out.bytes > most && !wait(m, d))
            return;
}

/* ---- sending ---- */

static dpi_mesh_link *link_to(dpi_mesh *m, size_t role)
{
    if (role >= m->parties || m->link[role].both.session == NULL)
        dpi_misuse(__func__, "there is no link to this role");
    return &m->link[role];
}

void *dpi_mesh_room(dpi_mesh *m, size_t to, size_t bytes)
{
    dpi_mesh_link *l = link_to(m, to);
    if (l->filling != NULL || bytes > DPI_MESH_MOST)
        dpi_misuse(__func__, "one message at a time, of at most DPI_MESH_MOST bytes");
    if (l->out.bytes > DPI_MESH_AHEAD)
        drain(m, to, DPI_MESH_AHEAD);
    if (m->err.status == DP_OK && (l->filling = dpi_mesh_block_new(m, bytes)) == NULL)
        dpi_mesh_fail(m, DP_ENOMEM, "out of memory");
    return dpi_mesh_bytes(l->filling != NULL ? l->filling : m->sink);
}

/* What waits is sent in its order, and little of it later: whoever posts to those that he does not
 * wait for would else call the system for each of many short messages, and wake them each time. */
static void post(dpi_mesh *m, dpi_mesh_kind kind, size_t to)
{
    dpi_mesh_link *l = link_to(m, to);
    dpi_mesh_block *b = l->filling;
    l->filling = NULL;
    if (b == NULL)
        return;
    if (m->err.status != DP_OK) {
        dpi_mesh_block_free(m, b);
        return;
    }
    if (m->tamper != NULL)
        m->tamper(m->user, kind, to, dpi_mesh_bytes(b), b->n);
    b->frame = (uint16_t)(FRAME + kind);
    dpi_mesh_queue_add(&l->out, b);
    if (l->out.bytes >= LITTLE)
        (void)go_on(m, l);
}

void dpi_mesh_post(dpi_mesh *m, size_t to)
{
    const dpi_mesh_block *b = link_to(m, to)->filling;
    if (b != NULL) {
        uint64_t *bytes = m->preparing ? m->traffic.prepared : m->traffic.online;
        bytes[to] += b->n;
        m->traffic.messages[to]++;
    }
    m->posted = true;
    post(m, DPI_MESH_POSTED, to);
}

void dpi_mesh_send(dpi_mesh *m, dpi_mesh_kind kind, size_t to, const void *bytes, size_t n)
{
    memcpy(dpi_mesh_room(m, to, n), bytes, n);
    post(m, kind, to);
}

void dpi_mesh_push(dpi_mesh *m)
{
    if (m->err.status == DP_OK)
        (void)go_on_with_all(m);
}

void dpi_mesh_flush(dpi_mesh *m)
{
    for (size_t j = 0; j < m->parties; j++)
        drain(m, j, 0);
}

/* ---- receiving ---- */

/* Rounds are short: to sleep and be woken takes longer than what is waited for.  So until `soon` it
 * only lets others run, who may be those that it waits for, and looks again. */
static void wait_a_little(dpi_mesh *m, dpi_deadline soon, dpi_deadline d)
{
    if (dpi_deadline_left(soon) > 0)
        (void)sched_yield();
    else
        (void)wait(m, d);
}

void dpi_mesh_receive(dpi_mesh *m, dpi_mesh_kind kind, size_t from, void *to, size_t n)
{
    dpi_wire_both *b = &link_to(m, from)->both;
    dpi_deadline d = dpi_deadline_after(m->timeout), soon = dpi_deadline_after(0);
    soon.at += SOON;
    if (m->err.status == DP_OK &&
        dpi_wire_both_receive(b, (uint16_t)(FRAME + kind), LAYER, to, n) != DP_OK)
        (void)fail_with(m, &m->link[from]);
    b->received = false;
    while (m->err.status == DP_OK && !b->received)
        if (go_on_with_all(m) && !b->received)
            wait_a_little(m, soon, d);
    if (m->err.status != DP_OK && n > 0)
        memset(to, 0, n);
}

void dpi_mesh_take(dpi_mesh *m, size_t from, void *to, size_t bytes)
{
    m->traffic.turns += m->posted;
    m->posted = false;
    dpi_mesh_receive(m, DPI_MESH_POSTED, from, to, bytes);
}

/* ---- the tape ---- */

void dpi_mesh_keep(dpi_mesh *m, size_t from, size_t bytes)
{
    dpi_mesh_link *l = link_to(m, from);
    dpi_mesh_block *b = dpi_mesh_block_new(m, bytes);
    if (b == NULL) {
        dpi_mesh_fail(m, DP_ENOMEM, "out of memory");
        return;
    }
    dpi_mesh_receive(m, DPI_MESH_POSTED, from, dpi_mesh_bytes(b), bytes);
    dpi_mesh_queue_add(&l->tape, b);
}

void dpi_mesh_take_kept(dpi_mesh *m, size_t from, void *to, size_t bytes)
{
    dpi_mesh_link *l = link_to(m, from);
    dpi_mesh_block *b = m->err.status == DP_OK ? dpi_mesh_queue_take(&l->tape) : NULL;
    bool fits = b != NULL && b->n == bytes;
    if (m->err.status == DP_OK && !fits)
        dpi_mesh_fail(m, DP_ESTATE, "what was prepared is not for this program");
    if (fits && bytes > 0)
        memcpy(to, dpi_mesh_bytes(b), bytes);
    else if (bytes > 0)
        memset(to, 0, bytes);
    if (b != NULL)
        dpi_mesh_block_free(m, b);
}
