/* A fit for people and as JSON. */
#ifndef TOOLS_TELL_FIT_H
#define TOOLS_TELL_FIT_H

#include <tacit/fit.h>

/* Prints formula and family, where the fit tells them, and what was found, spent and checked. */
dp_status tell_fit(const dp_fit *fit, dp_error *err);

/* The same as one JSON object; `out` is where the fit was saved, or NULL. */
dp_status tell_fit_json(const char *command, const dp_fit *fit, const char *out, dp_error *err);

#endif
