TEST_SERVE = libcheck.la libtacit-serve-core.la libtacit-crypto.la libtacit-wire.la \
  libtacit-internal.la $(TACIT_LIBS) $(SERVE_LIBS) $(CMOCKA_LIBS)
