/* What stands beside exported numbers, so that they never part from what they cost and from what is
 * wrong with them. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/export.h"

static void note_text(export_all *e, const char *name, const char *text)
{
    if (text != NULL && text[0] != '\0')
        e->note[e->n_notes++] = (export_note){.name = name, .text = text};
}

static void note_number(export_all *e, const char *name, double number)
{
    if (isfinite(number))
        e->note[e->n_notes++] = (export_note){.name = name, .number = number};
}

/* The time now, or the one that repeatable builds are told (SOURCE_DATE_EPOCH). */
static void set_time(export_all *e)
{
    const char *given = getenv("SOURCE_DATE_EPOCH");
    time_t now = time(NULL);
    struct tm parts;
    char *end;
    if (given != NULL && given[0] != '\0') {
        errno = 0;
        const long long told = strtoll(given, &end, 10);
        now = *end == '\0' && errno == 0 && told >= 0 ? (time_t)told : now;
    }
    if (gmtime_r(&now, &parts) == NULL ||
        strftime(e->created, sizeof e->created, "%Y-%m-%dT%H:%M:%S+00:00", &parts) == 0)
        e->created[0] = '\0';
}

/* A line a check. */
static bool join_checks(export_all *e, const dp_fit *fit)
{
    size_t n, room = 1;
    const dp_diagnostic *d = dp_fit_diagnostics(fit, &n);
    for (size_t k = 0; k < n; k++)
        room += strlen(d[k].name) + strlen(d[k].words) + sizeof "good : \n";
    e->checks = malloc(room);
    if (e->checks == NULL)
        return false;
    e->checks[0] = '\0';
    for (size_t k = 0, used = 0; k < n; k++)
        used += (size_t)snprintf(e->checks + used, room - used, "%s%s %s: %s", k > 0 ? "\n" : "",
                                 d[k].bad ? "BAD" : "good", d[k].name, d[k].words);
    return true;
}

static void note_privacy(export_all *e, const dp_fit *fit)
{
    dp_privacy p;
    dp_fit_privacy(fit, &p);
    note_text(e, "private", p.is_private ? "true" : "false");
    note_text(e, "why_not_private", p.why_not);
    if (p.is_private) {
        note_number(e, "epsilon", p.epsilon);
        note_number(e, "delta", p.delta);
        note_text(e, "adjacency", p.adjacency);
    }
    note_text(e, "warning", p.warning);
}

bool export_take_notes(export_all *e, const dp_fit *fit)
{
    const dp_fit_source *s = dp_fit_get_source(fit);
    set_time(e);
    note_text(e, "created_at", e->created);
    note_text(e, "creation_library", "tacit");
    note_text(e, "creation_library_version", TACIT_VERSION);
    note_text(e, "creation_library_language", "C");
    note_text(e, "inference_library", "tacit");
    note_text(e, "inference_library_version", TACIT_VERSION);
    note_privacy(e, fit);
    if (s != NULL) {
        note_text(e, "formula", s->formula);
        note_text(e, "family", s->family);
        note_text(e, "priors", s->priors);
        note_text(e, "schema", s->schema);
    }
    note_text(
        e, "draws",
        dp_fit_kept(fit) > 0
            ? "draws that the fit keeps, in random order: chains are not told apart, and what "
              "is computed of their order (R-hat, effective sample sizes) tells nothing"
            : "independent draws from the fit's guide, which leave out the noise of privacy");
    if (!join_checks(e, fit))
        return false;
    note_text(e, "checks", e->checks);
    return true;
}
