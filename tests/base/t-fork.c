#include "base/fork.h"

#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/lib/spaces.h"

/* Linux before 4.14, when `old`. */
static int old;
int __real_madvise(void *pages, size_t size, int advice);
int __wrap_madvise(void *pages, size_t size, int advice);

int __wrap_madvise(void *pages, size_t size, int advice)
{
    return old ? -1 : __real_madvise(pages, size, advice);
}

static dpi_fork *new_mark(void)
{
    dp_error err = {0};
    dpi_fork *mark;
    assert_ok(dpi_fork_new(&mark, &err), err.text);
    assert_true(dpi_fork_here(mark));
    return mark;
}

/* 0 when a child does not see the mark, sets it, and then its own child does not. */
static int look(void *of)
{
    dpi_fork *mark = of;
    int how, seen = dpi_fork_here(mark);
    dpi_fork_set(mark);
    int set = dpi_fork_here(mark);
    pid_t child = fork();
    if (child == 0)
        _exit(dpi_fork_here(mark));
    if (waitpid(child, &how, 0) != child || !WIFEXITED(how))
        return 8;
    dpi_fork_free(mark);
    return seen | !set << 1 | WEXITSTATUS(how) << 2;
}

static void a_child_has_a_mark_of_its_own(void **state)
{
    (void)state;
    for (old = 0; old < 2; old++) {
        int how;
        dpi_fork *mark = new_mark();
        pid_t child = fork();
        if (child == 0)
            _exit(look(mark));
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_int_equal(how, 0);
        assert_true(dpi_fork_here(mark));
        dpi_fork_free(mark);
    }
    old = 0;
    dpi_fork_free(NULL);
}

static int first_of_all(void *of)
{
    (void)of;
    dpi_fork *mark;
    if (dpi_fork_new(&mark, NULL) != DP_OK || !dpi_fork_here(mark))
        return 16;
    int how = spaces_fork_as_first(look, mark);
    return !dpi_fork_here(mark) ? 32 : how < 0 ? 64 : how;
}

/* Parent and child are number 1, each of its PID namespace. */
static void numbers_of_processes_do_not_matter(void **state)
{
    (void)state;
    int how = spaces_run_as_first(first_of_all, NULL);
    if (how == -1) {
        print_message("# no PID namespaces are permitted here\n");
        skip();
    }
    assert_int_equal(how, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_has_a_mark_of_its_own),
        cmocka_unit_test(numbers_of_processes_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
