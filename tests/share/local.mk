TEST_SHARE = libcheck.la libtacit-share.la libtacit-wire.la libtacit-internal.la $(TACIT_LIBS) $(SERVE_LIBS) $(CMOCKA_LIBS)
share_flags = $(AM_CPPFLAGS) $(OPENSSL_CFLAGS)
