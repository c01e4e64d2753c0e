/* Letters between threads: a list under a lock. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/error.h"
#include "silo/carrier.h"

typedef struct letter {
    struct letter *next;
    char tag[DPI_CARRIER_TAG];
    size_t n;
    unsigned char bytes[];
} letter;

struct dpi_letter_box {
    pthread_mutex_t lock;
    pthread_cond_t came;
    letter *letters; /* under the lock */
};

typedef struct memory_carrier {
    dpi_carrier base;
    dpi_letter_box *box;
} memory_carrier;

dp_status dpi_letter_box_new(dpi_letter_box **box, dp_error *err)
{
    pthread_condattr_t clock;
    *box = dpi_alloc(1, sizeof **box);
    if (*box == NULL)
        return dpi_fail_nomem(err);
    (*box)->letters = NULL;
    (void)pthread_mutex_init(&(*box)->lock, NULL);
    (void)pthread_condattr_init(&clock);
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&(*box)->came, &clock);
    (void)pthread_condattr_destroy(&clock);
    return DP_OK;
}

void dpi_letter_box_free(dpi_letter_box *box)
{
    if (box == NULL)
        return;
    for (letter *l = box->letters, *next; l != NULL; l = next) {
        next = l->next;
        dpi_free(l);
    }
    (void)pthread_cond_destroy(&box->came);
    (void)pthread_mutex_destroy(&box->lock);
    dpi_free(box);
}

/* Under the lock. */
static letter **find(dpi_letter_box *box, const char *tag)
{
    letter **at = &box->letters;
    while (*at != NULL && strcmp((*at)->tag, tag) != 0)
        at = &(*at)->next;
    return at;
}

dp_status dpi_carrier_look(const dpi_carrier *c, dp_error *err)
{
    return c->stop != NULL && c->stop(c->stop_of)
               ? dpi_fail(err, DP_ESTOPPED, "stopped while a letter was waited for")
               : DP_OK;
}

dp_status dpi_carrier_fail_long(const char *tag, dp_error *err)
{
    return dpi_fail(err, DP_EPEER,
                    "what stands in the mailbox as %.200s has more bytes than the letter that is "
                    "awaited; it was written by somebody else",
                    tag);
}

static dp_status put(dpi_carrier *c, const char *tag, size_t n, const unsigned char *bytes,
                     dp_error *err)
{
    dpi_letter_box *box = ((memory_carrier *)c)->box;
    if (strlen(tag) >= DPI_CARRIER_TAG || n > DPI_CARRIER_MOST)
        return dpi_fail(err, DP_EINVAL, "no letter has so long a tag, or so many bytes");
    letter *l = dpi_alloc(1, sizeof *l + n);
    if (l == NULL)
        return dpi_fail_nomem(err);
    memcpy(l->tag, tag, strlen(tag) + 1);
    l->n = n;
    memcpy(l->bytes, bytes, n);
    (void)pthread_mutex_lock(&box->lock);
    if (*find(box, tag) == NULL) {
        l->next = box->letters;
        box->letters = l;
        l = NULL;
    }
    (void)pthread_cond_broadcast(&box->came);
    (void)pthread_mutex_unlock(&box->lock);
    dpi_free(l);
    return DP_OK;
}

static struct timespec after(uint32_t wait_ms)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += wait_ms / 1000;
    t.tv_nsec += (long)(wait_ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

static dp_status get(dpi_carrier *c, const char *tag, uint32_t wait_ms, size_t most, size_t *n,
                     unsigned char **bytes, dp_error *err)
{
    dpi_letter_box *box = ((memory_carrier *)c)->box;
    struct timespec until = after(wait_ms);
    letter *l;
    bool late = false;
    *bytes = NULL;
    (void)pthread_mutex_lock(&box->lock);
    while ((l = *find(box, tag)) == NULL && !late)
        late = pthread_cond_timedwait(&box->came, &box->lock, &until) == ETIMEDOUT;
    *n = l != NULL ? l->n : 0;
    const bool is_long = l != NULL && l->n > most;
    if (l != NULL && !is_long && (*bytes = dpi_alloc(l->n + 1, 1)) != NULL)
        memcpy(*bytes, l->bytes, l->n);
    (void)pthread_mutex_unlock(&box->lock);
    if (l == NULL)
        return dpi_fail(err, DP_ETIMEOUT, "no letter %s has come", tag);
    if (is_long)
        return dpi_carrier_fail_long(tag, err);
    return *bytes != NULL ? DP_OK : dpi_fail_nomem(err);
}

static void close_memory(dpi_carrier *c)
{
    dpi_free(c);
}

static const dpi_carrier_kind memory_kind = {"memory", put, get, close_memory};

dp_status dpi_carrier_memory(dpi_letter_box *box, dpi_carrier **c, dp_error *err)
{
    memory_carrier *made = dpi_alloc(1, sizeof *made);
    *c = NULL;
    if (made == NULL)
        return dpi_fail_nomem(err);
    *made = (memory_carrier){.base = {.kind = &memory_kind}, .box = box};
    *c = &made->base;
    return DP_OK;
}
