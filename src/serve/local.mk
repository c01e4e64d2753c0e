# Private serving, a library of its own so that libtacit needs neither OpenSSL nor GMP nor
# protobuf-c.  It stands on libtacit's public calls and has its own copy of src/base.
if SERVE
SERVE_LIBS = $(OPENSSL_LIBS) $(GMP_LIBS) $(PROTOBUF_C_LIBS) $(CURL_LIBS)
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
  %D%/ahead.c %D%/ahead.h \
  %D%/allot.c %D%/allot.h %D%/allot-even.c %D%/allot-pack.c \
  %D%/answer.c %D%/answer-stream.c \
  %D%/ask.c %D%/ask-many.c %D%/asking.h \
  %D%/circuit.c %D%/circuit.h %D%/ckks.c %D%/ckks.h %D%/ckks-ask.c \
  %D%/cost.c \
  %D%/door.c %D%/door.h %D%/guests.c %D%/guests.h \
  %D%/he2-lattice-ask.c %D%/he2-lattice-common.c %D%/he2-lattice.c %D%/he2-lattice.h \
  %D%/he2-paillier.c \
  %D%/line.c %D%/line.h \
  %D%/map.c \
  %D%/masks.c %D%/masks.h \
  %D%/ask-parties.c %D%/ask-parties.h %D%/ask-parties-query.c \
  %D%/parties.c %D%/parties.h \
  %D%/party.c %D%/party-guest.c %D%/party-lane.c %D%/party-lane.h \
  %D%/party-meet.c %D%/party-meet.h %D%/party-model.c %D%/party-model.h \
  %D%/party-parts.h %D%/party-session.c %D%/party-talk.c %D%/party-talk.h \
  %D%/share-program.c \
  %D%/parts.c \
  %D%/plan.c %D%/plan.h \
  %D%/protocol.h \
  %D%/server.c \
  %D%/stream.c %D%/stream.h \
  %D%/talk.c %D%/talk.h
libtacit_serve_core_la_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSSL_CFLAGS) $(GMP_CFLAGS) $(PROTOBUF_C_CFLAGS)
pkgconfig_DATA += tacit-serve.pc

# Networks of ONNX files.  Their schema's code is made in the build folder, and is not ours to mend:
# it is compiled without our warnings.
ONNX_CFLAGS = -I$(top_builddir)/generated
onnx_schema = generated/onnx.pb-c.c generated/onnx.pb-c.h
BUILT_SOURCES += $(onnx_schema)
CLEANFILES += $(onnx_schema)
generated/onnx.pb-c.c: $(ONNX_PROTO)/onnx/onnx.proto
	$(AM_V_GEN)$(MKDIR_P) generated && \
	  $(PROTOC_C) --proto_path=$(ONNX_PROTO)/onnx --c_out=generated $(ONNX_PROTO)/onnx/onnx.proto
generated/onnx.pb-c.h: generated/onnx.pb-c.c
	@test -f $@ || { rm -f $< && $(MAKE) $(AM_MAKEFLAGS) $<; }
noinst_LTLIBRARIES += libtacit-onnx.la
nodist_libtacit_onnx_la_SOURCES = $(onnx_schema)
libtacit_onnx_la_CPPFLAGS = $(AM_CPPFLAGS) $(PROTOBUF_C_CFLAGS) $(ONNX_CFLAGS)
libtacit_onnx_la_CFLAGS = $(AM_CFLAGS) -w
libtacit_serve_convenience += libtacit-onnx.la
onnx_sources = %D%/onnx.c %D%/onnx.h %D%/onnx-arithmetic.c %D%/onnx-graph.c \
  %D%/onnx-linear.c %D%/onnx-node.c %D%/onnx-operators.c %D%/onnx-read.c %D%/onnx-tensor.c \
  %D%/onnx-window.c
libtacit_serve_core_la_SOURCES += $(onnx_sources)
libtacit_serve_core_la_CPPFLAGS += $(ONNX_CFLAGS)
$(libtacit_serve_core_la_OBJECTS): generated/onnx.pb-c.h
endif
