TEST_CRYPTO = libcheck.la libtacit-crypto.la libtacit-internal.la $(TACIT_LIBS) $(SERVE_LIBS) $(CMOCKA_LIBS)
