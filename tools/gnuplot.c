/* Script, picture and complaints go through files without names, so that neither side waits for the
 * other.  gnuplot reads no start-up file of the user (-d): the same script gives the same
 * picture. */
#define _POSIX_C_SOURCE 200809L
#include "tools/gnuplot.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 26, STREAMS = 3, NOT_FOUND = 127 };

extern char **environ;

static bool absent(message *why)
{
    return complain(why, "pictures are drawn by gnuplot, which is not on the PATH; install it "
                         "(Debian: apt-get install gnuplot-nox)");
}

/* Starts gnuplot with these as its standard streams, and waits for its end. */
static bool run_on(FILE *const stream[STREAMS], message *why)
{
    char name[] = "gnuplot", defaults[] = "-d", input[] = "-";
    char *const words[] = {name, defaults, input, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int end = 0, failed = posix_spawn_file_actions_init(&actions);
    if (failed != 0)
        return complain(why, "gnuplot cannot be started: %s", strerror(failed));
    for (int i = 0; i < STREAMS && failed == 0; i++)
        failed = posix_spawn_file_actions_adddup2(&actions, fileno(stream[i]), i);
    if (failed == 0)
        failed = posix_spawnp(&child, name, &actions, NULL, words, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (failed == ENOENT)
        return absent(why);
    if (failed != 0)
        return complain(why, "gnuplot cannot be started: %s", strerror(failed));
    while (waitpid(child, &end, 0) < 0)
        if (errno != EINTR)
            return complain(why, "gnuplot's end cannot be waited for: %s", strerror(errno));
    if (WIFEXITED(end) && WEXITSTATUS(end) == NOT_FOUND)
        return absent(why);
    if (WIFEXITED(end) && WEXITSTATUS(end) == 0)
        return true;
    return complain(why, "gnuplot did not draw the picture");
}

/* All bytes of a file, with a zero behind them; NULL where there are none or too many. */
static char *contents(FILE *file, size_t *size)
{
    long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *bytes = end > 0 && end <= MOST_BYTES ? malloc((size_t)end + 1) : NULL;
    if (bytes == NULL)
        return NULL;
    rewind(file);
    *size = fread(bytes, 1, (size_t)end, file);
    bytes[*size] = '\0';
    if (*size == (size_t)end)
        return bytes;
    free(bytes);
    return NULL;
}

/* The last line that gnuplot complained with goes behind the message. */
static void add_complaint(FILE *file, message *why)
{
    size_t size, have = strlen(why->text);
    char *text = contents(file, &size);
    if (text == NULL)
        return;
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == ' '))
        text[--size] = '\0';
    const char *line = strrchr(text, '\n');
    (void)snprintf(why->text + have, sizeof why->text - have, ": %.200s",
                   line != NULL ? line + 1 : text);
    free(text);
}

bool gnuplot_run(const char *script, size_t n, char **bytes, size_t *size, message *why)
{
    FILE *stream[STREAMS] = {tmpfile(), tmpfile(), tmpfile()};
    const bool opened = stream[0] != NULL && stream[1] != NULL && stream[2] != NULL;
    bool good = opened && fwrite(script, 1, n, stream[0]) == n && fflush(stream[0]) == 0 &&
                lseek(fileno(stream[0]), 0, SEEK_SET) == 0;
    *bytes = NULL;
    *size = 0;
    if (!good)
        (void)complain(why, "a picture has no room in the folder for temporary files: %s",
                       strerror(errno));
    good = good && run_on(stream, why);
    if (good) {
        *bytes = contents(stream[1], size);
        good = *bytes != NULL || complain(why, "gnuplot wrote no picture");
    }
    if (!good && opened)
        add_complaint(stream[2], why);
    for (int i = 0; i < STREAMS; i++)
        if (stream[i] != NULL)
            (void)fclose(stream[i]);
    return good;
}
