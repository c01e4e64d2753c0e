/* Replays a fuzzer's corpus without a fuzzer: every file of a folder, all its beginnings, and the
 * file with each byte in turn replaced by those that matter to a text format.  Speaks TAP; a fault
 * ends the program, which the test driver reports.
 *
 * The folder is CORPUS below $top_srcdir; with arguments, those files are replayed instead. */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"

enum { MAX_FILE = 64 * 1024, MAX_MUTATED = 2048, MAX_FILES = 10000, MAX_PATH = 4096 };

static void mutate(uint8_t *data, size_t size)
{
    static const uint8_t bytes[] = {0, '"', ',', ';', '\r', '\n', '0', 'e', '.', 0x80, 0xff};
    for (size_t n = 0; n < size; n++)
        (void)LLVMFuzzerTestOneInput(data, n);
    for (size_t i = 0; i < size; i++) {
        uint8_t kept = data[i];
        for (size_t b = 0; b < sizeof bytes; b++) {
            data[i] = bytes[b];
            (void)LLVMFuzzerTestOneInput(data, size);
        }
        data[i] = kept;
    }
}

static bool replay(const char *path)
{
    static uint8_t data[MAX_FILE];
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return false;
    size_t size = fread(data, 1, sizeof data, file);
    bool whole = !ferror(file) && feof(file);
    (void)fclose(file);
    if (!whole)
        return false;
    (void)LLVMFuzzerTestOneInput(data, size);
    if (size <= MAX_MUTATED)
        mutate(data, size);
    return true;
}

static int report(int number, const char *path, bool good)
{
    (void)printf("%s %d - survives %s\n", good ? "ok" : "not ok", number, path);
    (void)fflush(stdout);
    return good ? 0 : 1;
}

static int replay_folder(const char *folder)
{
    char path[MAX_PATH];
    int count = 0, failures = 0;
    DIR *list = opendir(folder);
    for (struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;) {
        if (entry->d_name[0] == '.' || count == MAX_FILES)
            continue;
        int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        bool good = length > 0 && length < MAX_PATH && replay(path);
        failures += report(++count, entry->d_name, good);
    }
    if (list != NULL)
        (void)closedir(list);
    if (count == 0)
        failures += report(++count, "an empty corpus", false);
    (void)printf("1..%d\n", count);
    return failures > 0;
}

int main(int argc, char **argv)
{
    char folder[MAX_PATH];
    int failures = 0;
    const char *root = getenv("top_srcdir");
    if (argc == 1) {
        int length = snprintf(folder, sizeof folder, "%s/%s", root != NULL ? root : ".", CORPUS);
        return length > 0 && length < MAX_PATH ? replay_folder(folder) : 1;
    }
    for (int i = 1; i < argc; i++)
        failures += report(i, argv[i], replay(argv[i]));
    (void)printf("1..%d\n", argc - 1);
    return failures > 0;
}
