#define _POSIX_C_SOURCE 200809L
#include "tests/lib/check.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void check_close(double a, double b, double relative, double absolute, const char *a_text,
                 const char *b_text, const char *file, int line)
{
    double scale = fabs(a) > fabs(b) ? fabs(a) : fabs(b);
    if (isnan(a) && isnan(b))
        return;
    if (a == b || (isfinite(scale) && fabs(a - b) <= absolute + relative * scale))
        return;
    print_error("%s = %.17g\n%s = %.17g\ndifference %.3g, allowed %.3g\n", a_text, a, b_text, b,
                fabs(a - b), absolute + relative * scale);
    _fail(file, line);
}

void check_ok(int status, const char *message, const char *file, int line)
{
    if (status == 0)
        return;
    print_error("status %d: %s\n", status, message != NULL ? message : "(no message)");
    _fail(file, line);
}

void check_fails(int status, int expected, dp_error *err, const char *why, const char *file,
                 int line)
{
    if (status != expected || (int)err->status != expected) {
        print_error("status %d, %d in the message, not %d: %s\n", status, (int)err->status,
                    expected, err->text);
        _fail(file, line);
    }
    check_contains(err->text, why, file, line);
    *err = (dp_error){.status = DP_OK};
}

void check_aborts(void (*call)(void *of), void *of, const char *text, const char *file, int line)
{
    int how = 0;
    (void)fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        (void)signal(SIGABRT, SIG_DFL);
        (void)close(2);
        call(of);
        _exit(0);
    }
    if (child > 0 && waitpid(child, &how, 0) == child && WIFSIGNALED(how) &&
        WTERMSIG(how) == SIGABRT)
        return;
    print_error("%s does not abort\n", text);
    _fail(file, line);
}

void check_contains(const char *text, const char *part, const char *file, int line)
{
    if (text != NULL && strstr(text, part) != NULL)
        return;
    print_error("\"%s\" does not contain \"%s\"\n", text != NULL ? text : "(null)", part);
    _fail(file, line);
}
