/* Test helpers on top of cmocka: comparisons in double (cmocka's own cast to float). */
#ifndef TESTS_LIB_CHECK_H
#define TESTS_LIB_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <tacit/status.h>

/* Fails unless |a - b| <= absolute + relative * max(|a|, |b|); NaN equals NaN only. */
#define assert_close(a, b, relative, absolute)                                                     \
    check_close((a), (b), (relative), (absolute), #a, #b, __FILE__, __LINE__)

/* Fails, with the message in err, unless status is DP_OK. */
#define assert_ok(status, err) check_ok((int)(status), (err), __FILE__, __LINE__)

/* Fails unless `text` contains `part`. */
#define assert_contains(text, part) check_contains((text), (part), __FILE__, __LINE__)

/* Fails unless status and that of err are `expected` and the message contains `why`; then clears
 * err. */
#define assert_fails(status, expected, err, why)                                                   \
    check_fails((int)(status), (int)(expected), (err), (why), __FILE__, __LINE__)

/* Fails unless call(of) aborts, which it may in a child; what it says is not shown. */
#define assert_aborts(call, of) check_aborts((call), (of), #call, __FILE__, __LINE__)

void check_close(double a, double b, double relative, double absolute, const char *a_text,
                 const char *b_text, const char *file, int line);
void check_ok(int status, const char *message, const char *file, int line);
void check_fails(int status, int expected, dp_error *err, const char *why, const char *file,
                 int line);
void check_aborts(void (*call)(void *of), void *of, const char *text, const char *file, int line);
void check_contains(const char *text, const char *part, const char *file, int line);

/* Skips a test that compares with long double where that is a double, as valgrind makes it. */
#define SKIP_WITHOUT_LONG_DOUBLE()                                                                 \
    do {                                                                                           \
        volatile long double one = 1;                                                              \
        if (one + 0x1p-60L == one) {                                                               \
            print_message("long double has the precision of a double here\n");                     \
            skip();                                                                                \
        }                                                                                          \
    } while (0)

#endif
