/* Who does what when: the parts of all parties as tasks, bound to hosts before they run, after the
 * scheduler of Sequoia (Proc. ACM Manag. Data 3(1), article 74, 2025, section 4).
 *
 *   tasks       steps of a round; one and its only successor, where nothing comes or goes between,
 *               are one.  A party's sum over records is as many tasks as it has blocks of records
 *   priority    more successors at other parties first, then shorter, then as the part has them
 *   binding     in that order, to the host whose queue is the shortest, of what can be at work at
 *               the same time; what is not of records to host 0, which has the keys.  Records stay
 *               where they are bound
 *   lengths     measured: the mean of what was thought and what was seen last
 *
 * Each party can work out its own tasks, and all come to the same.  The same object says which
 * records a rank takes, and goes through rounds with a clock of its own (dpi_silo_schedule_run).
 * doc/design/silo-hosts.md. */
#ifndef DPI_SILO_SCHEDULE_H
#define DPI_SILO_SCHEDULE_H

#include <tacit/status.h>

#include "base/alloc.h"
#include "silo/part.h"

/* Seconds of steps, in which INQUIRE is of one record and ISUM is what its host adds for each other
 * host; and of what passes: to another host of the party, and to another party. */
typedef struct dpi_silo_costs {
    double step[DPI_SILO_N_STEPS];
    bool seen[DPI_SILO_N_STEPS];
    double push, way;
} dpi_silo_costs;

/* A step took so long. */
void dpi_silo_costs_learn(dpi_silo_costs *c, dpi_silo_step_kind kind, double seconds);

/* In which order a host takes tasks that are ready. */
typedef enum dpi_silo_order {
    DPI_SILO_IN_ORDER, /* host 0's as the part has them, each after the one before: as execute.c */
    DPI_SILO_AS_THEY_COME, /* those that are ready as the part has them */
    DPI_SILO_BY_PRIORITY
} dpi_silo_order;

typedef struct dpi_silo_task {
    uint16_t party, host;
    uint16_t first;   /* its first step in the party's part, */
    uint16_t steps;   /* and how many steps it is */
    uint64_t records; /* of a block; 0: it is none */
    double length;
    uint32_t outside; /* successors at other parties */
    uint32_t waits;   /* tasks of the same round before it */
    bool asks, ends;  /* it waits for the round before; the next round waits for it */
    size_t n_next;
    uint32_t *next;
} dpi_silo_task;

typedef struct dpi_silo_schedule {
    dpi_arena arena;
    size_t parties, hosts, n;
    uint32_t *party; /* [parties + 1] where the tasks of each begin */
    dpi_silo_task *tasks;
    dpi_silo_order order;
    dpi_silo_costs costs;
} dpi_silo_schedule;

typedef struct dpi_silo_schedule_opts {
    const dpi_silo_part *parts;    /* [parties] */
    size_t parties, hosts, blocks; /* hosts and blocks of records of each party */
    uint64_t records;              /* of each party */
    dpi_silo_order order;
    dpi_silo_costs costs;
} dpi_silo_schedule_opts;

/* Tasks of a round, without steps that are done once, bound.  DP_EINVAL no parties, hosts or
 * blocks; DP_ENOMEM. */
dp_status dpi_silo_schedule_new(const dpi_silo_schedule_opts *o, dpi_silo_schedule **s,
                                dp_error *err) DP_MUST_CHECK;
void dpi_silo_schedule_free(dpi_silo_schedule *s);

/* Records of a party that its host has. */
uint64_t dpi_silo_schedule_records(const dpi_silo_schedule *s, size_t party, size_t host);

/* Whether a host that is free takes a before b, two tasks of one round. */
bool dpi_silo_task_first(const dpi_silo_task *a, const dpi_silo_task *b, dpi_silo_order order);

/* Seconds that so many rounds take, one after the other; NaN without memory, and where tasks wait
 * for each other for ever. */
double dpi_silo_schedule_run(const dpi_silo_schedule *s, size_t rounds);

#endif
