/* A group of threads for tests, whose sums are made where all meet. */
#ifndef TESTS_LIB_CREW_H
#define TESTS_LIB_CREW_H

#include <pthread.h>
#include <stdbool.h>

#include <tacit/group.h>

enum { CREW_MOST = 4, CREW_NUMBERS = 1 << 15 };

typedef struct crew {
    pthread_mutex_t lock;
    pthread_cond_t turn;
    size_t size, here, n;
    size_t times;     /* sums so far; under the lock, as all */
    bool broken;      /* ranks came with sums of different lengths, or one was told to break it */
    size_t breaks_at; /* 0: never; a sum whose turn it is fails, in all */
    int64_t sum[2][CREW_NUMBERS];
    struct crew_place {
        struct crew *of;
        dp_group group;
    } place[CREW_MOST];
} crew;

void crew_begin(crew *c, size_t size);
void crew_end(crew *c);

const dp_group *crew_rank(const crew *c, size_t rank);

#endif
