/* Requests to a mailbox: hostile text, of which little is understood.
 *
 *   METHOD /NAME HTTP/1.1 CRLF  (FIELD: VALUE CRLF)*  CRLF
 *
 * NAME is 1 to 251 of letters, digits and +._-, the first no + or dot.  Anything that could be read
 * in two ways is refused: bytes outside of printable ASCII, a line feed without its return, folded
 * lines, blanks before a colon, two lengths, any coding of a body. */
#ifndef DPI_SILO_RELAY_REQUEST_H
#define DPI_SILO_RELAY_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DPI_RELAY_NAME = 252,       /* with the final zero */
    DPI_RELAY_MOST_HEAD = 4096, /* bytes of a request before its body */
    DPI_RELAY_MOST_WAIT = 30    /* seconds */
};

typedef struct dpi_relay_request {
    bool puts; /* else it gets */
    char name[DPI_RELAY_NAME];
    uint64_t length; /* of the body */
    uint32_t wait;   /* seconds that an answer may take */
    bool closes;     /* the connection ends behind the answer */
    size_t head;     /* bytes before the body */
} dpi_relay_request;

enum { DPI_RELAY_MORE = 0, DPI_RELAY_GOOD = 200 };

/* Reads what has come of a request.  DPI_RELAY_MORE its end is not there; DPI_RELAY_GOOD; else the
 * status of HTTP with which it is refused, which may come before its end. */
int dpi_relay_parse(const char *bytes, size_t n, dpi_relay_request *request);

#endif
