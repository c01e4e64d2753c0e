if SERVE
toy = %D%/toy.c %D%/toy.h
TEST_FHE = libcheck.la libtacit-fhe.la libtacit-crypto.la libtacit-internal.la $(TACIT_LIBS) $(SERVE_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += %D%/t-embed %D%/t-ckks %D%/t-ckks-answer %D%/t-ckks-context %D%/t-ckks-memory %D%/t-ckks-threads %D%/t-linear %D%/t-boot %D%/t-boot-memory %D%/t-diagonals %D%/t-sign %D%/t-product %D%/t-softmax
%C%_t_embed_LDADD = $(TEST_FHE)
%C%_t_ckks_LDADD = $(TEST_FHE)
%C%_t_ckks_answer_LDADD = $(TEST_FHE)
%C%_t_ckks_context_LDADD = $(TEST_FHE)
%C%_t_ckks_memory_LDADD = $(TEST_FHE)
%C%_t_ckks_memory_LDFLAGS = -Wl,--wrap=aligned_alloc
%C%_t_ckks_threads_SOURCES = %D%/t-ckks-threads.c $(toy)
%C%_t_ckks_threads_LDADD = $(TEST_FHE)
%C%_t_ckks_threads_LDFLAGS = -Wl,--wrap=dpi_ntt_forward
%C%_t_linear_SOURCES = %D%/t-linear.c $(toy)
%C%_t_linear_LDADD = $(TEST_FHE)
%C%_t_boot_SOURCES = %D%/t-boot.c $(toy)
%C%_t_boot_LDADD = $(TEST_FHE)
%C%_t_boot_memory_SOURCES = %D%/t-boot-memory.c $(toy)
%C%_t_boot_memory_LDADD = $(TEST_FHE)
%C%_t_boot_memory_LDFLAGS = -Wl,--wrap=aligned_alloc
%C%_t_diagonals_LDADD = $(TEST_FHE)
%C%_t_sign_SOURCES = %D%/t-sign.c $(toy)
%C%_t_sign_LDADD = $(TEST_FHE)
%C%_t_softmax_SOURCES = %D%/t-softmax.c $(toy)
%C%_t_softmax_LDADD = $(TEST_FHE)
%C%_t_softmax_LDFLAGS = -Wl,--wrap=aligned_alloc,--wrap=dpi_ckks_rotate
%C%_t_product_SOURCES = %D%/t-product.c $(toy)
%C%_t_product_LDADD = $(TEST_FHE)
%C%_t_product_LDFLAGS = -Wl,--wrap=aligned_alloc,--wrap=dpi_ckks_rotate,--wrap=dpi_ckks_turn_raised
endif
