/* Options from a table. */
#include "examples/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void options_stop(const char *program, const char *what, const char *why)
{
    const char *base = strrchr(program, '/');
    base = base != NULL ? base + 1 : program;
    (void)fprintf(stderr, "%s: %s: %s\n", strncmp(base, "lt-", 3) == 0 ? base + 3 : base, what,
                  why);
    exit(1);
}

void options_say_privacy(const dp_fit *fit)
{
    dp_privacy spent;
    dp_fit_privacy(fit, &spent);
    if (!spent.is_private)
        (void)printf("NOT PRIVATE: %s\n", spent.why_not);
    if (isfinite(spent.epsilon))
        (void)printf("epsilon %.3g at delta %.2g (%s)\n", spent.epsilon, spent.delta,
                     spent.adjacency);
}

static void take_seed(const char *program, const option *o, const char *text)
{
    char *end;
    const unsigned long long seed = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != 0)
        options_stop(program, o->name, "needs a whole number from 0 up; --help lists the options");
    *(uint64_t *)o->value = seed != 0 ? seed : UINT64_MAX;
}

static void take(const char *program, const option *o, const char *text)
{
    char *end;
    const double number = strtod(text, &end);
    const bool is_number = end != text && *end == 0;
    if (o->kind == OPTION_TEXT)
        *(const char **)o->value = text;
    else if (o->kind == OPTION_SEED)
        take_seed(program, o, text);
    else if (!is_number)
        options_stop(program, o->name, "needs a number; --help lists the options");
    else if (o->kind == OPTION_NUMBER)
        *(double *)o->value = number;
    else if (number >= 1 && number <= 1e9 && number == floor(number))
        *(size_t *)o->value = (size_t)number;
    else
        options_stop(program, o->name, "needs a whole number from 1 up; --help lists the options");
}

static void help(const char *does, size_t n, const option *options)
{
    static const char *const takes[] = {"", " X", " N", " N", " PATH"};
    (void)printf("%s\n", does);
    for (size_t k = 0; k < n; k++)
        (void)printf("  %s%-*s %s\n", options[k].name, 18 - (int)strlen(options[k].name),
                     takes[options[k].kind], options[k].help);
    (void)printf("  %-18s %s\n", "--help", "print this");
    exit(0);
}

void options_read(int argc, char **argv, const char *does, size_t n, const option *options)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            help(does, n, options);
        const option *o = NULL;
        for (size_t k = 0; k < n; k++)
            if (strcmp(argv[i], options[k].name) == 0)
                o = &options[k];
        if (o == NULL || (o->kind != OPTION_FLAG && i + 1 == argc))
            options_stop(argv[0], argv[i],
                         "not an option, or its value is missing; --help lists the options");
        else if (o->kind == OPTION_FLAG)
            *(bool *)o->value = true;
        else
            take(argv[0], o, argv[++i]);
    }
}
