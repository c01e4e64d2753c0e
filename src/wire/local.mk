# Sessions between processes that do not trust each other.
if SERVE
noinst_LTLIBRARIES += libtacit-wire.la
libtacit_wire_la_SOURCES =
libtacit_wire_la_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSSL_CFLAGS)
libtacit_serve_convenience += libtacit-wire.la
endif
