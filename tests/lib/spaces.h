/* Processes that are number 1 of a PID namespace, as programs in containers are. */
#ifndef TESTS_LIB_SPACES_H
#define TESTS_LIB_SPACES_H

/* Forks twice: call(of) runs in a process that is number 1.  Gives its exit status; -1 where the
 * system permits no namespaces, -2 when it has not ended within a minute. */
int spaces_run_as_first(int (*call)(void *of), void *of);

/* The same from such a process: the child is number 1 of another namespace. */
int spaces_fork_as_first(int (*call)(void *of), void *of);

#endif
