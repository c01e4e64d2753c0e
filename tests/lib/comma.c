#define _XOPEN_SOURCE 700
#include "tests/lib/comma.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static bool has_comma(const char *name)
{
    return setlocale(LC_NUMERIC, name) != NULL && strcmp(localeconv()->decimal_point, ",") == 0;
}

bool comma_set(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    char command[300];
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (has_comma(names[k]))
            return true;
    (void)snprintf(folder, sizeof folder, "./comma-XXXXXX");
    if (mkdtemp(folder) == NULL || setenv("LOCPATH", folder, 1) != 0)
        return false;
    (void)snprintf(command, sizeof command,
                   "localedef -c -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
    return system(command) >= 0 && has_comma("de_DE.UTF-8");
}

void comma_end(void)
{
    char command[100];
    (void)setlocale(LC_NUMERIC, "C");
    (void)unsetenv("LOCPATH");
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    if (folder[0] != '\0')
        (void)!system(command);
    folder[0] = '\0';
}
