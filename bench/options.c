#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bench_stop(const char *what, const char *why)
{
    (void)fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void stop_with_list(const char *what, size_t n, const bench_option *list)
{
    (void)fprintf(stderr, "%s: use", what);
    for (size_t k = 0; k < n; k++)
        (void)fprintf(stderr, " %s VALUE", list[k].name);
    (void)fprintf(stderr, "\n");
    exit(1);
}

static void set(const bench_option *o, const char *value)
{
    if (o->count != NULL)
        *o->count = strtoull(value, NULL, 10);
    if (o->number != NULL)
        *o->number = strtod(value, NULL);
    if (o->text != NULL)
        *o->text = value;
}

void bench_options(int argc, char **argv, size_t n, const bench_option *list)
{
    for (int i = 1; i < argc; i += 2) {
        size_t k = 0;
        while (k < n && strcmp(argv[i], list[k].name) != 0)
            k++;
        if (k == n || i + 1 == argc)
            stop_with_list(argv[i], n, list);
        set(&list[k], argv[i + 1]);
    }
}

bool bench_asks_for(const char *form, const char *name)
{
    if (form != NULL && strcmp(form, "d3p") != 0 && strcmp(form, "tacit") != 0)
        bench_stop(form, "the forms are d3p and tacit");
    return form == NULL || strcmp(form, name) == 0;
}
