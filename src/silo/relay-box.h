/* Letters of a mailbox: files of a folder, so many and so large. */
#ifndef DPI_SILO_RELAY_BOX_H
#define DPI_SILO_RELAY_BOX_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <tacit/status.h>

#include "wire/socket.h"

typedef struct dpi_relay_box {
    int folder; /* -1: none */
    uint64_t most_letter, most_letters, most_bytes;
    uint64_t letters, bytes;         /* that are kept */
    uint64_t awaited, awaited_bytes; /* that are on their way */
    uint64_t drafts;                 /* that were begun */
    uint64_t counts;                 /* times that the folder was gone through */
    dpi_deadline counted;            /* it is not, before, */
    struct timespec seen;            /* while nobody else has changed it */
} dpi_relay_box;

/* Milliseconds in which a full folder that nobody else seems to have changed is gone through once:
 * that takes the longer the more is in it, and whoever may write can ask for it. */
enum { DPI_RELAY_RECOUNT = 1000 };

/* A letter on its way. */
typedef struct dpi_relay_draft {
    int file; /* -1: none */
    uint64_t size;
    char name[40];
} dpi_relay_draft;

/* Takes the folder for this process and counts what is there.  What an earlier process has not
 * finished is taken away.  DP_EIO; DP_ESTATE another process has it. */
dp_status dpi_relay_box_open(dpi_relay_box *box, const char *folder, dp_error *err) DP_MUST_CHECK;
void dpi_relay_box_close(dpi_relay_box *box);

/* Begins a letter of `size` bytes, to be written to draft->file.  A status of HTTP: 0 it is begun;
 * 412 it is there; 413 it is too large; 507 there is no room.  Letters that others have taken away
 * make room at once, or where the file system's clock does not tell, within DPI_RELAY_RECOUNT. */
int dpi_relay_box_begin(dpi_relay_box *box, const char *name, uint64_t size,
                        dpi_relay_draft *draft);

/* Puts it on the disk under its name: 201; 412 there is one; 507, and then it is not there, or
 * where the disk does not even take that, is counted. */
int dpi_relay_box_keep(dpi_relay_box *box, dpi_relay_draft *draft, const char *name);
void dpi_relay_box_drop(dpi_relay_box *box, dpi_relay_draft *draft);

/* A letter's file, for the caller to close; -1 for none. */
int dpi_relay_box_find(const dpi_relay_box *box, const char *name, uint64_t *size);

#endif
