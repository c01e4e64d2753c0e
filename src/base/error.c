/* Sticky errors.  The first message wins: what came first is the cause, the rest are its echoes. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *name, *text;
} statuses[] = {
#define ROW(name, text) {#name, text},
    DP_STATUS_LIST(ROW)
#undef ROW
};

const char *dp_status_name(dp_status status)
{
    return (unsigned)status < DP_N_STATUS ? statuses[status].name : "DP_?";
}

const char *dp_status_text(dp_status status)
{
    return (unsigned)status < DP_N_STATUS ? statuses[status].text : "unknown status";
}

dp_status dpi_fail(dp_error *err, dp_status status, const char *format, ...)
{
    if (err == NULL)
        return status;
    if (err->status != DP_OK)
        return err->status;
    err->status = status;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return status;
}

dp_status dpi_fail_nomem(dp_error *err)
{
    return dpi_fail(err, DP_ENOMEM, "out of memory; use a smaller problem or a larger machine");
}

void dpi_misuse(const char *function, const char *what)
{
    (void)fprintf(stderr, "tacit: %s: %s (a mistake in the calling program)\n", function, what);
    abort();
}
