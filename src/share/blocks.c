#include "share/blocks.h"

enum { WORD = 64 };

dp_status dpi_blocks_new(const dpi_party *p, dpi_ring ring, size_t n_planes, size_t block,
                         dpi_blocks *room, dp_error *err)
{
    size_t words = dpi_share_words(block);
    *room = (dpi_blocks){.block = WORD * words};
    dp_status status = dpi_planes_new(p, n_planes, words, &room->planes, err);
    if (status == DP_OK)
        status = dpi_share_new(p, ring, 2 * room->block, &room->both, err);
    if (status == DP_OK)
        status = dpi_share_new(p, DPI_RING_BITS, 2 * words, &room->repeated, err);
    if (status != DP_OK) {
        dpi_blocks_free(room);
        return status;
    }
    for (size_t k = 0; k < 2; k++)
        room->number[k] = dpi_share_from(ring, &room->both, k * room->block, room->block);
    return DP_OK;
}

void dpi_blocks_free(dpi_blocks *room)
{
    dpi_planes_free(&room->planes);
    dpi_share_free(&room->both);
    dpi_share_free(&room->repeated);
    *room = (dpi_blocks){0};
}
