/* Reserves 30 full batches on data set "visits" of the ledger named, and settles at 20: something
 * for tests of the command to show. */
#include <stdio.h>

#include <tacit/ledger.h>

int main(int argc, char **argv)
{
    const dp_mechanism m = {.sampling = DP_SAMPLING_FULL, .sigma = 50, .rate = 1, .steps = 30};
    const dp_spending what = {
        .data = "visits", .label = "first \"fit\"", .columns = "x, y", .list = &m, .n = 1};
    const uint64_t begun = 20;
    dp_ledger *ledger = NULL;
    dp_reservation *r = NULL;
    dp_error err = {DP_OK, ""};
    dp_status status = argc == 2 ? dp_ledger_open(argv[1], &ledger, &err) : DP_EINVAL;
    if (status == DP_OK)
        status = dp_ledger_reserve(ledger, &what, &r, &err);
    if (status == DP_OK)
        status = dp_reservation_settle(r, &begun, &err);
    if (status != DP_OK)
        (void)fprintf(stderr, "%s\n", err.text);
    dp_reservation_free(r);
    dp_ledger_close(ledger);
    return status != DP_OK;
}
