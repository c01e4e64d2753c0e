TEST_WIRE = libcheck.la libtacit-wire.la libtacit-internal.la $(TACIT_LIBS) $(SERVE_LIBS) $(CMOCKA_LIBS)
