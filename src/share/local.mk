# Sharing among three and four parties.
if SERVE
noinst_LTLIBRARIES += libtacit-share.la
libtacit_share_la_SOURCES = %D%/share.c %D%/share.h %D%/elements.c %D%/elements.h
libtacit_share_la_SOURCES += %D%/mesh.c %D%/mesh-keys.c %D%/mesh-parts.h %D%/mesh-post.c %D%/mesh-views.c %D%/mesh.h
libtacit_share_la_SOURCES += %D%/party.c %D%/party.h %D%/clear.c
libtacit_share_la_SOURCES += %D%/compare.c %D%/compare.h %D%/carries.c
libtacit_share_la_SOURCES += %D%/kernels.c %D%/kernels.h %D%/kernels-parts.h %D%/kernels-tile.h \
  %D%/kernels-dots.c %D%/kernels-panels.c %D%/kernels-avx512.c %D%/kernels-avx2.c %D%/kernels-portable.c \
  %D%/kernels-planes.c %D%/kernels-gfni.c
libtacit_share_la_SOURCES += %D%/blocks.c %D%/blocks.h %D%/relu.c %D%/relu.h %D%/max.c %D%/max.h
libtacit_share_la_SOURCES += %D%/cost.c %D%/place.c %D%/plan.c %D%/plan.h %D%/rounding.c %D%/run.c %D%/run.h
libtacit_share_la_SOURCES += %D%/table.c %D%/table.h
libtacit_share_la_SOURCES += %D%/deal.c %D%/deal.h
libtacit_share_la_SOURCES += %D%/trio.c %D%/trio.h %D%/trio-bits.c %D%/trio-ends.c %D%/trio-loop-numbers.h %D%/trio-loop-products.h %D%/trio-loops.c %D%/trio-products.c
libtacit_share_la_SOURCES += %D%/quad.c %D%/quad.h %D%/quad-bits.c %D%/quad-loop-numbers.h %D%/quad-loop-products.h %D%/quad-loops.c %D%/quad-products.c %D%/quad-tiles.c
libtacit_share_la_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSSL_CFLAGS)
libtacit_serve_convenience += libtacit-share.la
endif
