/* A group of processes for tests: children of fork around a parent, who is rank 0, joined by
 * sockets. */
#ifndef TESTS_INFER_RANKS_H
#define TESTS_INFER_RANKS_H

#include <stddef.h>

#include <tacit/group.h>

/* Runs body(group, of) in `size` processes.  The parent's call is that of rank 0.  Children exit
 * with what body returns; an assertion that fails in a child ends it with another code.  Returns 0
 * when rank 0 and all children returned 0.  Ends by an alarm after 60 seconds, so that ranks that
 * wait for each other fail. */
int run_ranks(size_t size, int (*body)(const dp_group *group, void *of), void *of);

#endif
