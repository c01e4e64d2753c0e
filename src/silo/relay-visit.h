/* One connection to a mailbox, which is at one of six stages:
 *
 *   greets    TLS shakes hands             takes    a letter's bytes come
 *   asks      a request comes, or none     waits    for a letter that is not there
 *   answers   an answer leaves             leaves   TLS ends; what still comes is not used
 *
 * Each stage has an end.  Bytes of a letter, and nothing else, put it off, by what they take at a
 * least pace.  There is one buffer for what comes before a body, and one for a piece of a body or
 * of an answer. */
#ifndef DPI_SILO_RELAY_VISIT_H
#define DPI_SILO_RELAY_VISIT_H

#include <openssl/ssl.h>

#include "silo/relay-box.h"
#include "silo/relay-request.h"
#include "wire/bio.h"
#include "wire/socket.h"

enum { DPI_RELAY_PIECE = 16384 }; /* a record of TLS */

typedef enum dpi_relay_stage {
    DPI_RELAY_GREETS,
    DPI_RELAY_ASKS,
    DPI_RELAY_TAKES,
    DPI_RELAY_WAITS,
    DPI_RELAY_ANSWERS,
    DPI_RELAY_LEAVES
} dpi_relay_stage;

typedef struct dpi_relay_visitor {
    dpi_relay_stage stage;
    int socket;
    SSL *tls;
    dpi_bio bio;
    short wants; /* of poll; 0: nothing */
    bool busy;   /* it has something to do already */
    bool last;   /* it leaves behind its answer */
    bool kept;   /* the letter `asked` is of was put just now; for the caller to clear */
    dpi_deadline end;
    dpi_relay_request asked;
    dpi_relay_draft draft;
    int file;      /* of the letter that leaves; -1: none */
    uint64_t left; /* bytes of a body that have not moved */
    size_t n_in, n_out, at_out;
    char in[DPI_RELAY_MOST_HEAD];
    unsigned char out[DPI_RELAY_PIECE];
} dpi_relay_visitor;

/* Begins with a connected socket, which it owns: false where memory is out. */
bool dpi_relay_greet(dpi_relay_visitor *v, int socket, SSL_CTX *settings);

/* Goes on as far as can be without waiting, and not too far; no further than to a letter that is
 * kept.  False where it is at its end. */
bool dpi_relay_turn(dpi_relay_box *box, dpi_relay_visitor *v);

/* Answers with the letter that was asked for, if it is there. */
bool dpi_relay_answer_letter(const dpi_relay_box *box, dpi_relay_visitor *v);

/* Closes it, also where it did not begin. */
void dpi_relay_part_from(dpi_relay_box *box, dpi_relay_visitor *v);

#endif
