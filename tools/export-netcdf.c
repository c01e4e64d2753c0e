/* NetCDF-4 in the groups of ArviZ's InferenceData: posterior, prior, and of public records
 * observed_data with posterior_predictive, or predictions where their outcome is not known.  Every
 * variable of draws has the dimensions chain, draw and its own, and every dimension a variable of
 * its name with what its places stand for.
 *
 * Names are anybody's.  NetCDF takes most characters but '/', and all names of a group must differ,
 * so that what it cannot take becomes '_', a name that is taken gets a number, and the attribute
 * tacit_name says what it was. */
#include <stdlib.h>
#include <string.h>

#include "tools/export.h"

#ifdef TACIT_NETCDF

#include <netcdf.h>

#include "tools/text.h"

enum { NAME_BYTES = 200, CHAIN = 0, DRAW = 1 };

/* A dimension that variables of a group share. */
typedef struct shared_dim {
    dp_groups by;
    size_t size;
    int id;
} shared_dim;

/* A group that is being written.  The first error sticks. */
typedef struct group_writer {
    int id, status;
    int dim[2]; /* chain, draw */
    size_t n_draws;
    shared_dim *shared;
    size_t n_shared;
} group_writer;

static void keep(group_writer *w, int status)
{
    w->status = w->status == NC_NOERR ? status : w->status;
}

static bool good(const group_writer *w)
{
    return w->status == NC_NOERR;
}

/* ---- names and texts ---- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Copies a text, with `instead` for what is no character, or is '/' where it is a name's. */
static void clean(const char *text, const char *instead, bool is_name, size_t room, char *out)
{
    size_t used = 0;
    while (*text != '\0') {
        const size_t n = *text == '\n' || *text == '\t' ? !is_name : text_character(text);
        const bool kept = n > 0 && !(is_name && *text == '/');
        const char *from = kept ? text : instead;
        const size_t size = kept ? n : strlen(instead);
        if (used + size + 1 > room)
            break;
        memcpy(out + used, from, size);
        used += size;
        text += n > 0 ? n : 1;
    }
    out[used] = '\0';
}

static bool is_taken(const group_writer *w, const char *name)
{
    int id;
    return nc_inq_varid(w->id, name, &id) == NC_NOERR || nc_inq_dimid(w->id, name, &id) == NC_NOERR;
}

/* A name for the group that NetCDF takes and that is not taken. */
static void choose_name(const group_writer *w, const char *wanted, char name[NC_MAX_NAME + 1])
{
    char stem[NAME_BYTES + 1];
    clean(wanted, "_", true, sizeof stem - 1, stem + 1);
    const bool begins = is_letter(stem[1]) || (stem[1] & 0x80) != 0;
    stem[0] = '_';
    for (size_t n = strlen(stem); n > 1 && stem[n - 1] == ' '; n--)
        stem[n - 1] = '_';
    const char *from = begins ? stem + 1 : stem;
    (void)snprintf(name, NC_MAX_NAME + 1, "%s", from);
    for (unsigned k = 2; is_taken(w, name); k++)
        (void)snprintf(name, NC_MAX_NAME + 1, "%s_%u", from, k);
}

static void put_text(group_writer *w, int variable, const char *name, const char *text)
{
    const size_t room = 3 * strlen(text) + 1;
    char *cleaned = malloc(room);
    if (cleaned == NULL) {
        keep(w, NC_ENOMEM);
        return;
    }
    clean(text, "\xef\xbf\xbd", false, room, cleaned);
    const char *one = cleaned;
    if (good(w))
        keep(w, nc_put_att_string(w->id, variable, name, 1, &one));
    free(cleaned);
}

static void put_notes(group_writer *w, const export_all *e)
{
    for (size_t i = 0; i < e->n_notes && good(w); i++) {
        const export_note *n = &e->note[i];
        if (n->text != NULL)
            put_text(w, NC_GLOBAL, n->name, n->text);
        else
            keep(w, nc_put_att_double(w->id, NC_GLOBAL, n->name, NC_DOUBLE, 1, &n->number));
    }
}

/* ---- dimensions ---- */

/* A dimension of n places with a variable of its name. */
static int add_dim_of(group_writer *w, const char *wanted, size_t n, nc_type type, int *variable)
{
    char name[NC_MAX_NAME + 1];
    int id = -1;
    choose_name(w, wanted, name);
    if (good(w))
        keep(w, nc_def_dim(w->id, name, n, &id));
    if (good(w))
        keep(w, nc_def_var(w->id, name, type, 1, &id, variable));
    return id;
}

/* One whose places are numbered from `first`. */
static int add_dim(group_writer *w, const char *wanted, size_t n, long long first)
{
    int variable = -1;
    const int id = add_dim_of(w, wanted, n, NC_INT64, &variable);
    long long *value = malloc(n * sizeof *value + 1);
    keep(w, value != NULL ? NC_NOERR : NC_ENOMEM);
    for (size_t k = 0; value != NULL && k < n; k++)
        value[k] = first + (long long)k;
    if (good(w))
        keep(w, nc_put_var_longlong(w->id, variable, value));
    free(value);
    return id;
}

/* One whose places are groups with names. */
static int add_named_dim(group_writer *w, const dp_groups *by, const char *wanted, size_t n)
{
    char level[DP_GROUP_ROOM], cleaned[3 * DP_GROUP_ROOM];
    int variable = -1;
    const int id = add_dim_of(w, wanted, n, NC_STRING, &variable);
    for (size_t k = 0; k < n && good(w); k++) {
        const char *text = cleaned;
        dp_groups_level(by, k, DP_GROUP_ROOM, level);
        clean(level, "\xef\xbf\xbd", false, sizeof cleaned, cleaned);
        keep(w, nc_put_var1_string(w->id, variable, &k, &text));
    }
    return id;
}

static bool are_same(const dp_groups *a, const dp_groups *b)
{
    bool same = a->n_by == b->n_by && a->shared == b->shared;
    for (size_t i = 0; same && i < a->n_by; i++)
        same = a->by[i] == b->by[i];
    return same;
}

/* The dimension of these groups, which all their effects share. */
static int group_dim(group_writer *w, const dp_groups *by, size_t n)
{
    char title[DP_GROUP_ROOM];
    for (size_t i = 0; i < w->n_shared; i++)
        if (w->shared[i].size == n && are_same(&w->shared[i].by, by))
            return w->shared[i].id;
    dp_groups_title(by, DP_GROUP_ROOM, title);
    const dp_column *c = by->by[0];
    const bool numbers = c->kind == DP_COLUMN_INTEGER && (by->shared || by->n_by == 1);
    const int id =
        numbers ? add_dim(w, title, n, (long long)c->low) : add_named_dim(w, by, title, n);
    w->shared[w->n_shared++] = (shared_dim){*by, n, id};
    return id;
}

/* ---- groups of draws ---- */

static void add_variable(group_writer *w, const draw_variable *v)
{
    char name[NC_MAX_NAME + 1], of[NAME_BYTES + 32];
    int dim[2 + MOST_DIMS] = {w->dim[CHAIN], w->dim[DRAW]}, id;
    choose_name(w, v->name, name);
    for (size_t k = 0; k < v->n_dims; k++) {
        (void)snprintf(of, sizeof of, "%.*s_dim_%zu", NAME_BYTES, name, k);
        dim[2 + k] =
            v->by.n_by > 0 ? group_dim(w, &v->by, v->dim[0]) : add_dim(w, of, v->dim[k], 0);
    }
    choose_name(w, v->name, name); /* a dimension may have taken it */
    if (good(w))
        keep(w, nc_def_var(w->id, name, NC_DOUBLE, 2 + (int)v->n_dims, dim, &id));
    if (good(w) && strcmp(name, v->name) != 0)
        put_text(w, id, "tacit_name", v->name);
    if (good(w))
        keep(w, nc_put_var_double(w->id, id, v->values));
}

static void begin_group(group_writer *w, int file, const export_all *e, const char *name,
                        size_t n_draws)
{
    *w = (group_writer){.n_draws = n_draws};
    keep(w, nc_def_grp(file, name, &w->id));
    put_notes(w, e);
    if (n_draws == 0)
        return;
    w->dim[CHAIN] = add_dim(w, "chain", 1, 0);
    w->dim[DRAW] = add_dim(w, "draw", n_draws, 0);
}

static int put_draws(int file, const export_all *e, const char *name, const draw_set *s)
{
    group_writer w;
    begin_group(&w, file, e, name, s->n_draws);
    w.shared = calloc(s->n + 1, sizeof *w.shared);
    keep(&w, w.shared != NULL ? NC_NOERR : NC_ENOMEM);
    for (size_t i = 0; i < s->n && good(&w); i++)
        add_variable(&w, &s->variable[i]);
    free(w.shared);
    return w.status;
}

/* ---- outcomes of public records ---- */

/* What outcome k is called, a line each: levels have no line ends. */
static void put_levels(group_writer *w, int variable, const dp_column *c)
{
    const dp_groups one = {.by = {c}, .n_by = 1};
    const size_t n = c == NULL ? 0 : dp_groups_count(&one);
    size_t room = 1, used = 0;
    char level[DP_GROUP_ROOM];
    for (size_t k = 0; k < n; k++) {
        dp_groups_level(&one, k, DP_GROUP_ROOM, level);
        room += strlen(level) + 1;
    }
    char *text = malloc(room);
    keep(w, text != NULL ? NC_NOERR : NC_ENOMEM);
    for (size_t k = 0; text != NULL && k < n; k++) {
        dp_groups_level(&one, k, DP_GROUP_ROOM, level);
        used += (size_t)snprintf(text + used, room - used, "%s%s", k > 0 ? "\n" : "", level);
    }
    if (used > 0)
        put_text(w, variable, "levels", text);
    free(text);
}

static int put_outcomes(int file, const export_all *e, const char *group, const double *values,
                        size_t n_draws)
{
    const export_records *r = &e->records;
    group_writer w;
    char name[NC_MAX_NAME + 1];
    int dim[4], id = -1, n = 0;
    begin_group(&w, file, e, group, n_draws);
    if (n_draws > 0) {
        dim[n++] = w.dim[CHAIN];
        dim[n++] = w.dim[DRAW];
    }
    dim[n++] = add_dim(&w, strcmp(r->outcome, "record") == 0 ? "records" : "record", r->n, 1);
    if (r->size > 1)
        dim[n++] = add_dim(&w, "number", r->size, 0);
    choose_name(&w, r->outcome, name);
    if (good(&w))
        keep(&w, nc_def_var(w.id, name, NC_DOUBLE, n, dim, &id));
    if (good(&w)) /* outcomes are often counts or levels, of which little is left */
        keep(&w, nc_def_var_deflate(w.id, id, 1, 1, 1));
    if (good(&w) && strcmp(name, r->outcome) != 0)
        put_text(&w, id, "tacit_name", r->outcome);
    put_levels(&w, id, r->levels);
    if (good(&w))
        keep(&w, nc_put_var_double(w.id, id, values));
    return w.status;
}

static int put_records(int file, const export_all *e)
{
    const export_records *r = &e->records;
    if (r->outcome == NULL)
        return NC_NOERR;
    const char *name = r->observed != NULL ? "posterior_predictive" : "predictions";
    const int status = put_outcomes(file, e, name, r->predicted, e->posterior.n_draws);
    return status == NC_NOERR && r->observed != NULL
               ? put_outcomes(file, e, "observed_data", r->observed, 0)
               : status;
}

bool export_has_netcdf(message *why)
{
    (void)why;
    return true;
}

bool export_netcdf(const export_all *e, const char *path, message *why)
{
    int file;
    int status = nc_create(path, NC_CLOBBER | NC_NETCDF4, &file);
    if (status == NC_NOERR) {
        group_writer root = {.id = file};
        put_notes(&root, e);
        status = root.status;
        if (status == NC_NOERR)
            status = put_draws(file, e, "posterior", &e->posterior);
        if (status == NC_NOERR && e->prior.n > 0)
            status = put_draws(file, e, "prior", &e->prior);
        if (status == NC_NOERR)
            status = put_records(file, e);
        const int closed = nc_close(file);
        status = status == NC_NOERR ? closed : status;
    }
    return status == NC_NOERR ||
           complain(why, "NetCDF cannot write it (%.200s); is the disk full?", nc_strerror(status));
}

#else

bool export_has_netcdf(message *why)
{
    return complain(why, "this build writes no NetCDF; take --csv, or build with Debian's "
                         "libnetcdf-dev installed");
}

bool export_netcdf(const export_all *e, const char *path, message *why)
{
    (void)e;
    (void)path;
    return export_has_netcdf(why);
}

#endif
