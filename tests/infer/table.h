/* Owners as threads of one process, whose sums are opened at a table: each waits there for all. */
#ifndef TESTS_INFER_TABLE_H
#define TESTS_INFER_TABLE_H

#include <pthread.h>
#include <stdbool.h>

#include <tacit/owners.h>

enum { TABLE_KEPT = 40, TABLE_NUMBERS = 1 << 14 };

typedef struct table {
    pthread_mutex_t lock;
    pthread_cond_t turn;
    size_t owners, here, times;
    bool differ; /* owners came with different questions */
    unsigned char question[DP_OWNERS_QUESTION];
    uint64_t sum[TABLE_NUMBERS];
    uint64_t opened[TABLE_KEPT][TABLE_NUMBERS]; /* in turn; under the lock, as all before */
    size_t n[TABLE_KEPT];
} table;

void table_begin(table *t, size_t owners);
void table_end(table *t);

/* dp_owners.open, with the table as its context. */
dp_status table_open(void *context, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                     uint64_t *values, dp_error *err);

#endif
