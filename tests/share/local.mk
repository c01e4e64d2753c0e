TEST_SHARE = libcheck.la libtacit-share.la libtacit-wire.la libtacit-internal.la $(TACIT_LIBS) $(SERVE_LIBS) $(CMOCKA_LIBS)
share_flags = $(AM_CPPFLAGS) $(OPENSSL_CFLAGS)
share_scene = %D%/scene.c %D%/scene.h
UNIT_TESTS += %D%/t-deal %D%/t-mesh
%C%_t_deal_LDADD = $(TEST_SHARE)
%C%_t_mesh_SOURCES = %D%/t-mesh.c $(share_scene)
%C%_t_mesh_CPPFLAGS = $(share_flags)
%C%_t_mesh_LDADD = $(TEST_SHARE)
