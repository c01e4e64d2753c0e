/* Puts a letter on a server, or takes one, as owners do: for check-https.
 *   letter put URL TAG TEXT [CERTIFICATE KEY AUTHORITIES [PATIENCE_MS]]
 *   letter get URL TAG WAIT_MS [CERTIFICATE KEY AUTHORITIES [PATIENCE_MS [MOST_BYTES]]]
 * "-" is none.  Prints the letter; or the status and what is wrong, and ends with 1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "silo/carrier.h"

static const char *word(int argc, char **argv, int k)
{
    return k < argc && strcmp(argv[k], "-") != 0 ? argv[k] : NULL;
}

int main(int argc, char **argv)
{
    dpi_carrier *c = NULL;
    dp_error err = {0};
    if (argc < 5)
        return 2;
    const bool puts_one = strcmp(argv[1], "put") == 0;
    const dpi_https_opts opts = {.url = argv[2],
                                 .certificate = word(argc, argv, 5),
                                 .key = word(argc, argv, 6),
                                 .authorities = word(argc, argv, 7),
                                 .patience_ms = argc > 8 ? (uint32_t)atoi(argv[8]) : 500};
    dp_status status = dpi_carrier_https(&opts, &c, &err);
    const size_t most = argc > 9 ? (size_t)atoi(argv[9]) : 1000000;
    unsigned char *bytes = NULL;
    size_t n = 0;
    if (status == DP_OK && puts_one)
        status = c->kind->put(c, argv[3], strlen(argv[4]), (const unsigned char *)argv[4], &err);
    else if (status == DP_OK)
        status = c->kind->get(c, argv[3], (uint32_t)atoi(argv[4]), most, &n, &bytes, &err);
    if (status == DP_OK)
        (void)printf("%.*s\n", (int)n, bytes != NULL ? (const char *)bytes : "");
    else
        (void)printf("%s: %s\n", dp_status_name(status), err.text);
    dpi_free(bytes);
    if (c != NULL)
        c->kind->close(c);
    return status == DP_OK ? 0 : 1;
}
