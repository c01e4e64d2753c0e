#include "tests/lib/crew.h"

#include <assert.h>
#include <string.h>

/* Sums take turns in two places, so that the next one does not write over what a slow rank still
 * reads. */
static int add(void *context, size_t n, int64_t *values)
{
    crew *c = ((struct crew_place *)context)->of;
    assert(n <= CREW_NUMBERS);
    (void)pthread_mutex_lock(&c->lock);
    const size_t turn = c->times;
    int64_t *sum = c->sum[turn % 2];
    if (c->here == 0) {
        c->n = n;
        memset(sum, 0, n * sizeof *sum);
    }
    c->broken = c->broken || c->n != n || (c->breaks_at != 0 && turn + 1 == c->breaks_at);
    for (size_t e = 0; e < n && !c->broken; e++)
        sum[e] = (int64_t)((uint64_t)sum[e] + (uint64_t)values[e]);
    if (++c->here == c->size) {
        c->here = 0;
        c->times++;
    }
    (void)pthread_cond_broadcast(&c->turn);
    while (c->times == turn && !c->broken)
        (void)pthread_cond_wait(&c->turn, &c->lock);
    const bool good = !c->broken;
    if (good)
        memcpy(values, sum, n * sizeof *values);
    (void)pthread_mutex_unlock(&c->lock);
    return good ? 0 : 1;
}

void crew_begin(crew *c, size_t size)
{
    assert(size <= CREW_MOST);
    memset(c, 0, sizeof *c);
    c->size = size;
    (void)pthread_mutex_init(&c->lock, NULL);
    (void)pthread_cond_init(&c->turn, NULL);
    for (size_t r = 0; r < size; r++) {
        c->place[r].of = c;
        c->place[r].group = (dp_group){r, size, &c->place[r], add};
    }
}

void crew_end(crew *c)
{
    (void)pthread_mutex_destroy(&c->lock);
    (void)pthread_cond_destroy(&c->turn);
}

const dp_group *crew_rank(const crew *c, size_t rank)
{
    return &c->place[rank].group;
}
