# Sessions between processes that do not trust each other.
if SERVE
tacitinclude_HEADERS += include/tacit/parties.h include/tacit/serve.h
noinst_LTLIBRARIES += libtacit-wire.la
libtacit_wire_la_SOURCES = %D%/bio.c %D%/bio.h %D%/both.c %D%/both.h %D%/disk.c %D%/disk.h %D%/frame.c %D%/frame.h %D%/handshake.c %D%/identity.c %D%/identity.h \
  %D%/lines.c %D%/lines.h %D%/log.c %D%/log.h %D%/listener.c %D%/listener.h %D%/parts.h %D%/peers.c %D%/peers.h \
  %D%/policy.c %D%/policy.h %D%/session.c %D%/session.h %D%/socket.c %D%/socket.h %D%/syncer.c %D%/syncer.h %D%/transfer.c
libtacit_wire_la_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSSL_CFLAGS)
libtacit_serve_convenience += libtacit-wire.la
endif
