/* In a library that was built without libcurl. */
#include "base/error.h"
#include "silo/carrier.h"

dp_status dpi_carrier_https(const dpi_https_opts *opts, dpi_carrier **c, dp_error *err)
{
    (void)opts;
    *c = NULL;
    return dpi_fail(err, DP_EUNSUPPORTED,
                    "this library was built without HTTPS; build it with libcurl, or let letters "
                    "lie in a folder that all owners reach");
}
