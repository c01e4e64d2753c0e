/* Numbers of a few bits each, packed into bytes without gaps.
 *
 * A word of 64 bits collects what is not yet written or read; a number that does not fit into what
 * is free of it is cut. */
#include "crypto/packed.h"

size_t dpi_packed_size(size_t n, int bits)
{
    return n / 8 * (size_t)bits + (n % 8 * (size_t)bits + 7) / 8;
}

/* The last n <= 8 bytes. */
static void put_end(unsigned char *to, uint64_t word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (unsigned char)(word >> 8 * i);
}

static uint64_t get_end(const unsigned char *from, size_t n)
{
    uint64_t word = 0;
    for (size_t i = 0; i < n; i++)
        word |= (uint64_t)from[i] << 8 * i;
    return word;
}

/* Eight bytes; compilers make one instruction of each. */
DPI_INLINE void put(unsigned char *to, uint64_t word)
{
    to[0] = (unsigned char)word;
    to[1] = (unsigned char)(word >> 8);
    to[2] = (unsigned char)(word >> 16);
    to[3] = (unsigned char)(word >> 24);
    to[4] = (unsigned char)(word >> 32);
    to[5] = (unsigned char)(word >> 40);
    to[6] = (unsigned char)(word >> 48);
    to[7] = (unsigned char)(word >> 56);
}

void dpi_packed_write(size_t n, int bits, const uint64_t *numbers, unsigned char *to)
{
    uint64_t word = 0;
    int filled = 0; /* < 64 */
    for (size_t i = 0; i < n; i++) {
        word |= numbers[i] << filled;
        if (filled + bits >= 64) {
            put(to, word);
            to += 8;
            word = numbers[i] >> 1 >> (63 - filled);
            filled -= 64;
        }
        filled += bits;
    }
    put_end(to, word, (size_t)(filled + 7) / 8);
}

bool dpi_packed_read(size_t n, int bits, const unsigned char *from, uint64_t *numbers)
{
    const uint64_t mask = ((uint64_t)1 << bits) - 1;
    const unsigned char *end = from + dpi_packed_size(n, bits);
    uint64_t word = 0;
    int filled = 0; /* bits of `word` that are not yet read, < 64; those above are zero */
    for (size_t i = 0; i < n; i++) {
        uint64_t number = word;
        if (filled < bits) {
            const size_t step = end - from < 8 ? (size_t)(end - from) : 8;
            const uint64_t next = step == 8 ? dpi_load_word(from) : get_end(from, step);
            from += step;
            number |= next << filled;
            word = next >> 1 >> (bits - filled - 1);
            filled += 64 - bits;
        } else {
            word >>= bits;
            filled -= bits;
        }
        numbers[i] = number & mask;
    }
    return word == 0;
}
