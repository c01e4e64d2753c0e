#define _XOPEN_SOURCE 700
#include "tools/load-program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/fit.h>
#include <tacit/lower.h>
#include <tacit/serve.h>

enum { SEED = 1 };

/* Writes the message and gives the status. */
static dp_status fail(dp_error *err, dp_status status, const char *format, const char *what)
{
    err->status = status;
    (void)snprintf(err->text, sizeof err->text, format, what);
    return status;
}

/* ---- bounds: NAME=LOW,HIGH;NAME[2]=LOW,HIGH ---- */

static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t n = strlen(text);
    while (n > 0 && strchr(" \t", text[n - 1]) != NULL)
        text[--n] = '\0';
    return text;
}

/* One item, which is cut into pieces. */
static bool read_bounds(char *item, dp_column_bounds *b)
{
    char *equal = strrchr(item, '='), *comma = equal != NULL ? strchr(equal, ',') : NULL, *end;
    if (comma == NULL)
        return false;
    *equal = *comma = '\0';
    char *name = trim(item), *open = strrchr(name, '[');
    *b = (dp_column_bounds){.column = name};
    if (open != NULL && open[1] >= '0' && open[1] <= '9') {
        b->element = strtoul(open + 1, &end, 10);
        if (strcmp(end, "]") != 0)
            return false;
        *open = '\0';
    }
    return name[0] != '\0' && options_number(trim(equal + 1), &b->low) &&
           options_number(trim(comma + 1), &b->high) && b->low < b->high;
}

/* What --bounds says: names and numbers. */
typedef struct bounds_list {
    char *copy;
    dp_column_bounds *item;
    size_t n;
} bounds_list;

static dp_status read_all_bounds(const char *text, bounds_list *list, dp_error *err)
{
    size_t most = 1;
    for (const char *c = text; *c != '\0'; c++)
        most += *c == ';';
    list->item = calloc(most, sizeof *list->item);
    list->copy = strdup(text);
    if (list->copy == NULL || list->item == NULL)
        return fail(err, DP_ENOMEM, "%s", "out of memory");
    for (char *item = list->copy, *next; item != NULL; item = next) {
        next = strchr(item, ';');
        if (next != NULL)
            *next++ = '\0';
        if (trim(item)[0] == '\0')
            continue;
        if (!read_bounds(item, &list->item[list->n++]))
            return fail(err, DP_EINVAL,
                        "--bounds '%.200s' is not understood; give NAME=LOW,HIGH with LOW below "
                        "HIGH, and ; between columns, as in 'age=0,120; x[2]=-1,1'",
                        text);
    }
    return DP_OK;
}

/* ---- what is answered ---- */

static dp_status find_column(const dp_fit *fit, const char *path, const char **name, dp_error *err)
{
    size_t n, observed = 0;
    const dp_fit_column *column = dp_fit_columns(fit, &n);
    for (size_t i = 0; i < n && *name == NULL; i++)
        if (column[i].observed && observed++ == 0)
            *name = column[i].name;
    for (size_t i = 0, seen = 0; i < n; i++)
        if (column[i].observed && ++seen > 1 && observed == 1)
            return fail(err, DP_EINVAL,
                        "the model of %.200s observes several columns; say with --column which one "
                        "is answered",
                        path);
    return *name != NULL ? DP_OK
                         : fail(err, DP_EINVAL,
                                "the model of %.200s observes no column; name with --column the "
                                "value that is answered",
                                path);
}

static dp_status lower_fit(const char *path, const settings *said, const dp_lower_opts *o,
                           dp_program **p, dp_error *err)
{
    const char *name = said->column;
    dp_fit *fit;
    dp_status status = dp_fit_load(path, &fit, err);
    if (status == DP_OK)
        status = find_column(fit, path, &name, err);
    if (status == DP_OK)
        status = dp_program_of_fit(fit, name, o, p, err);
    dp_fit_free(fit);
    return status;
}

/* The input is one column, as it is in the file or under another name. */
static dp_status read_network(const char *path, const settings *said, const dp_lower_opts *o,
                              dp_program **p, dp_error *err)
{
    const dp_onnx_opts opts = {.low = o->low, .high = o->high, .column = said->column};
    if (o->n_bounds > 0 || o->draws > 0 || said->range.n == 0)
        return fail(
            err, DP_EINVAL,
            "%.200s is no fit of Tacit, and is read as a network (ONNX): that has one column "
            "and no draws; give --range, without --bounds and --draws",
            path);
    return dp_program_of_onnx(path, &opts, p, err);
}

/* Ends the program with the class instead of scores: the place of the largest score, or whether the
 * one score is above 0, which is the largest of 0 and it. */
static dp_status end_with_label(dp_program *p, dp_error *err)
{
    static const double zero_and_it[] = {0, 1};
    const int last = (int)dp_program_stages(p) - 1;
    const size_t outputs = dp_program_outputs(p);
    const dp_link link = dp_program_link(p);
    if (dp_program_stage(p, (size_t)last)->kind == DP_STAGE_ARGMAX)
        return DP_OK;
    if (dp_program_draws(p) > 1)
        return fail(err, DP_EUNSUPPORTED, "%s",
                    "--label is for one answer, and not for several draws; leave --draws out");
    if (link == DP_LINK_EXP || (outputs == 1 && link != DP_LINK_LOGISTIC))
        return fail(err, DP_EUNSUPPORTED, "%s",
                    "--label is for models that tell classes, and this one tells a number");
    (void)dp_program_argmax(p,
                            outputs == 1 ? dp_program_dense(p, last, 2, zero_and_it, NULL) : last);
    dp_program_answer(p, DP_LINK_IDENTITY, 1);
    return DP_OK;
}

static bool is_fit(const char *path)
{
    static const char begins[] = "tacitfit";
    char text[sizeof begins] = "";
    FILE *file = fopen(path, "rb");
    size_t n = file != NULL ? fread(text, 1, sizeof begins - 1, file) : 0;
    if (file != NULL)
        (void)fclose(file);
    return file == NULL || (n == sizeof begins - 1 && strcmp(text, begins) == 0);
}

static int bits_of(double said)
{
    return isnan(said) ? 0 : (int)said;
}

dp_status load_program(const char *path, const settings *said, dp_program **p, dp_error *err)
{
    dp_lower_opts o = {.draws = isnan(said->draws) ? 0 : (size_t)said->draws, .seed = SEED};
    const dp_scale_opts scale = {.weight_bits = bits_of(said->weight_bits),
                                 .activation_bits = bits_of(said->activation_bits)};
    bounds_list bounds = {0};
    dp_status status = DP_OK;
    *p = NULL;
    if (said->range.n == 2 && said->range.value[0] < said->range.value[1]) {
        o.low = said->range.value[0];
        o.high = said->range.value[1];
    } else if (said->range.n > 0) {
        return fail(err, DP_EINVAL, "%s", "--range gives two ends, the lower one first");
    }
    if (said->bounds != NULL)
        status = read_all_bounds(said->bounds, &bounds, err);
    o.bounds = bounds.item;
    o.n_bounds = bounds.n;
    if (status == DP_OK)
        status =
            is_fit(path) ? lower_fit(path, said, &o, p, err) : read_network(path, said, &o, p, err);
    if (status == DP_OK && said->label)
        status = end_with_label(*p, err);
    if (status == DP_OK)
        status = dp_program_fix(*p, &scale, err);
    if (status != DP_OK) {
        dp_program_free(*p);
        *p = NULL;
    }
    free(bounds.copy);
    free(bounds.item);
    return status;
}
