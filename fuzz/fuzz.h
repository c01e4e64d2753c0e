/* The entry point that libFuzzer and the corpus replayer call. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Aborts when the input shows a fault; gives 0 otherwise. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
