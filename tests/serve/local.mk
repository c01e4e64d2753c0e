TEST_SERVE = libcheck.la libtacit-serve-core.la libtacit-crypto.la libtacit-wire.la \
  libtacit-internal.la $(TACIT_LIBS) $(SERVE_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += %D%/t-serve
%C%_t_serve_LDADD = $(TEST_SERVE)
