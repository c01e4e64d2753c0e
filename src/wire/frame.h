/* Headers of frames.
 *
 *   0  magic "TcW"    4  kind      8  layer   12  length of the payload
 *   3  version        6  zero     16  sequence number in its direction   24  session, 16 bytes
 *
 * Numbers have their little end first.  Both sides know which frame comes next: a header is not
 * read for what to do but compared with what must come. */
#ifndef DPI_WIRE_FRAME_H
#define DPI_WIRE_FRAME_H

#include <stdint.h>

#include <tacit/status.h>

enum { DPI_FRAME_HEADER = 40, DPI_FRAME_SESSION = 16, DPI_FRAME_VERSION = 1 };

/* Kinds below DPI_FRAME_OWN belong to sessions, others to protocols. */
enum { DPI_FRAME_REFUSAL = 1, DPI_FRAME_HELLO = 2, DPI_FRAME_OWN = 16 };

/* The layer of the opening of a query, the only one in which refusals are heard. */
enum { DPI_FRAME_OPENING = 0 };

/* Why a query is refused.  Numbers are part of the format: new reasons go to the end. */
#define DPI_REFUSAL_LIST(X)                                                                        \
    X(VERSION, "it speaks another version of the protocol; update the older of the two")           \
    X(PROGRAM, "it serves another program than was asked for; get the present one from it")        \
    X(CLIENT, "it does not know this identity; send it the fingerprint that tacit keys show "      \
              "prints")                                                                            \
    X(BUDGET, "this identity has used up its queries for now; ask again in the next window")       \
    X(MODE, "its policy does not allow this protocol or mode")                                     \
    X(BUSY, "it is busy; try again later")                                                         \
    X(FLIGHT, "it does not answer so many queries at a time; ask with fewer in flight")            \
    X(PARTIES, "it has another list of parties; all must have the same fingerprints in the same "  \
               "order")                                                                            \
    X(NO_MODEL, "no model has been shared with it yet; its provider's tacit share does that")      \
    X(MODELS, "the parties were not given the same model; its provider must share it again")       \
    X(TOKEN, "it has a session by this token already; begin a new one")                            \
    X(RECORDS, "it does not answer so many records of a query, or in so many lanes; ask with "     \
               "fewer")                                                                            \
    X(LABEL, "its policy tells labels alone, and this program does not end with one; share it "    \
             "with --label")                                                                       \
    X(PROGRAM_KIND, "it cannot compute this program")                                              \
    X(FELLOW, "another party cannot be reached, or has given up")

typedef enum dpi_refusal {
    DPI_REFUSED_NOTHING,
#define DPI_REFUSAL_ENUM(name, text) DPI_REFUSED_##name,
    DPI_REFUSAL_LIST(DPI_REFUSAL_ENUM)
#undef DPI_REFUSAL_ENUM
        DPI_N_REFUSALS
} dpi_refusal;

typedef struct dpi_frame {
    uint16_t kind;
    uint32_t layer;
    uint32_t length;
    uint64_t sequence;
    unsigned char session[DPI_FRAME_SESSION];
} dpi_frame;

/* The words for a reason; NULL for a number that is none. */
const char *dpi_refusal_text(uint32_t reason);

/* The frame that refuses in place of `expected`. */
dpi_frame dpi_frame_refusal(const dpi_frame *expected, dpi_refusal reason);

void dpi_frame_write(const dpi_frame *f, unsigned char to[DPI_FRAME_HEADER]);

/* DP_OK when the header is that of the frame expected; DP_EREFUSED and the reason's words when it
 * refuses in its place, which it may in the opening; else DP_EPEER and what differs. */
dp_status dpi_frame_check(const dpi_frame *expected, const unsigned char from[DPI_FRAME_HEADER],
                          dp_error *err) DP_MUST_CHECK;

#endif
