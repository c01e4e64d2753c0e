# Private serving, a library of its own so that libtacit needs neither OpenSSL nor GMP nor
# protobuf-c.  It stands on libtacit's public calls and has its own copy of src/base.
if SERVE
SERVE_LIBS = $(OPENSSL_LIBS) $(GMP_LIBS) $(PROTOBUF_C_LIBS)
libtacit_serve_convenience = libtacit-serve-core.la
lib_LTLIBRARIES += libtacit-serve.la
noinst_LTLIBRARIES += libtacit-serve-core.la
libtacit_serve_la_SOURCES =
libtacit_serve_la_LIBADD = $(libtacit_serve_convenience) libtacit-base.la libtacit.la $(SERVE_LIBS) \
  $(SODIUM_LIBS)
# Its copy of src/base is not exported: programs have that of libtacit.
libtacit_serve_la_LDFLAGS = -version-info $(TACIT_VERSION_INFO) -no-undefined \
  -Wl,--exclude-libs,libtacit-base.a
libtacit_serve_core_la_SOURCES = \
  %D%/answer.c \
  %D%/ask.c \
  %D%/he2-lattice.c \
  %D%/he2-paillier.c \
  %D%/map.c \
  %D%/parts.c \
  %D%/plan.c %D%/plan.h \
  %D%/protocol.h \
  %D%/server.c \
  %D%/talk.c %D%/talk.h
libtacit_serve_core_la_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSSL_CFLAGS) $(GMP_CFLAGS) $(PROTOBUF_C_CFLAGS)
pkgconfig_DATA += tacit-serve.pc
endif
