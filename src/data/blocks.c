/* Where records end, without reading them.
 *
 * In a text that keeps to the grammar (csv.c) a line feed ends a record unless it is within quotes,
 * and it is within quotes if the number of quotes before it is odd: a quote opens a field, closes
 * it, or is one of two.  A block ends behind such a line feed, the last one that is followed by a
 * byte that is no line end, since line ends at the end of the text are left out and only what
 * follows tells whether they are.
 *
 * In a text that does not keep to the grammar this is true up to the first fault, which is in the
 * block whose reading begins before it.  A record that is broken or too long may have no end that
 * could be found: when more than max_line bytes have no end, the block is what there is, and
 * whoever reads it meets the fault.  So the first fault and its message do not depend on where
 * blocks end.
 *
 * A NUL byte ends the text; whole records before it are read first. */
#include "data/blocks.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/error.h"

/* So many bytes more than a record may have show that it is too long: a line end of two, behind a
 * byte order mark of three at the beginning of the text. */
enum { BEYOND = 2 + 3 };

void dpi_csv_blocks_start(dpi_csv_blocks *b)
{
    b->taken = 0;
    b->line = 1;
    b->carried = NULL;
    b->n_carried = b->carried_room = 0;
    b->ended = false;
}

void dpi_csv_block_free(dpi_csv_block *block)
{
    dpi_free(block->text);
    *block = (dpi_csv_block){0};
}

void dpi_csv_blocks_free(dpi_csv_blocks *b)
{
    dpi_free(b->carried);
    b->carried = NULL;
}

/* Makes room for n bytes of which `used` are kept; false when memory is out. */
static bool make_room(char **text, size_t *room, size_t used, size_t n)
{
    if (n <= *room)
        return true;
    char *larger = dpi_alloc(n, 1);
    if (larger == NULL)
        return false;
    if (used > 0)
        memcpy(larger, *text, used);
    dpi_free(*text);
    *text = larger;
    *room = n;
    return true;
}

/* Reads on until the block is full, the text is over, or a NUL byte is met. */
static dp_status fill(dpi_csv_blocks *b, dpi_csv_block *block, dp_error *err)
{
    while (block->size < block->room && !b->ended) {
        size_t got;
        char *to = block->text + block->size;
        dp_status status = b->source->read(b->source, block->room - block->size, to, &got, err);
        if (status != DP_OK)
            return status;
        if (got > b->max_bytes - b->taken)
            return dpi_fail(err, DP_EDATA, "%s is larger than %zu bytes; raise max_bytes",
                            b->source->name, b->max_bytes);
        b->taken += got;
        const char *nul = got > 0 ? memchr(to, 0, got) : NULL;
        block->nul = nul != NULL;
        block->size += nul != NULL ? (size_t)(nul - to) : got;
        b->ended = got == 0 || nul != NULL;
    }
    return DP_OK;
}

DPI_LOOPS static size_t count(size_t n, const char *text, char c)
{
    size_t found = 0;
    while (n > 0) {
        const size_t some = n < 255 ? n : 255;
        unsigned char few = 0; /* so that vectors are of bytes */
        for (size_t i = 0; i < some; i++)
            few = (unsigned char)(few + (text[i] == c));
        found += few;
        text += some;
        n -= some;
    }
    return found;
}

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

/* Where the last record that is whole ends, 0 where there is none; *tail is how many bytes follow
 * the last line feed that may end one, less line ends behind them, which may be the text's last. */
static size_t last_end(const dpi_csv_block *block, size_t *tail)
{
    bool within = count(block->size, block->text, '"') % 2 != 0, met = false;
    size_t told = block->size;
    while (told > 0 && is_line_end(block->text[told - 1]))
        told--;
    *tail = told;
    for (size_t i = block->size; i-- > 0;) {
        if (block->text[i] == '"')
            within = !within;
        if (block->text[i] != '\n' || within)
            continue;
        if (!met)
            *tail = told > i ? told - i - 1 : 0;
        met = true;
        if (i + 1 < block->size && !is_line_end(block->text[i + 1]))
            return i + 1;
    }
    return 0;
}

static dp_status carry(dpi_csv_blocks *b, dpi_csv_block *block, size_t end, dp_error *err)
{
    b->n_carried = block->size - end;
    if (!make_room(&b->carried, &b->carried_room, 0, b->n_carried))
        return dpi_fail_nomem(err);
    memcpy(b->carried, block->text + end, b->n_carried);
    block->size = end;
    return DP_OK;
}

static void leave_out_line_ends(dpi_csv_block *block)
{
    while (block->size > 0 && is_line_end(block->text[block->size - 1]))
        block->size--;
}

/* Reads until the block has whole records, or what can be none. */
static dp_status take(dpi_csv_blocks *b, dpi_csv_block *block, dp_error *err)
{
    for (;;) {
        size_t tail;
        dp_status status = fill(b, block, err);
        if (status != DP_OK)
            return status;
        block->last = b->ended;
        if (b->ended) {
            if (!block->nul)
                leave_out_line_ends(block);
            return DP_OK;
        }
        const size_t end = last_end(block, &tail);
        if (end > 0)
            return carry(b, block, end, err);
        if (tail > b->max_line && tail - b->max_line > BEYOND)
            return DP_OK;
        if (block->room > SIZE_MAX / 2 ||
            !make_room(&block->text, &block->room, block->size, 2 * block->room))
            return dpi_fail_nomem(err);
    }
}

dp_status dpi_csv_blocks_next(dpi_csv_blocks *b, dpi_csv_block *block, dp_error *err)
{
    size_t room = b->block > b->n_carried ? b->block : b->n_carried;
    if (b->source->size > 0 && b->source->size < room) /* one byte more shows the end */
        room = b->source->size + 1;
    block->size = 0;
    block->line = b->line;
    block->last = block->nul = false;
    if (!make_room(&block->text, &block->room, 0, room))
        return dpi_fail_nomem(err);
    if (b->n_carried > 0)
        memcpy(block->text, b->carried, b->n_carried);
    block->size = b->n_carried;
    b->n_carried = 0;
    dp_status status = take(b, block, err);
    block->lines = count(block->size, block->text, '\n');
    b->line += block->lines;
    return status;
}
