TEST_CRYPTO = libcheck.la libtacit-crypto.la libtacit-internal.la $(TACIT_LIBS) $(SERVE_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += %D%/t-modulus %D%/t-ntt
%C%_t_modulus_LDADD = $(TEST_CRYPTO)
%C%_t_ntt_LDADD = $(TEST_CRYPTO)
