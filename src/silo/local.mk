# Fits over several owners: programs, checks, secure sums and what moves them.
if SERVE
tacitinclude_HEADERS += include/tacit/silo.h
noinst_LTLIBRARIES += libtacit-silo.la
libtacit_silo_la_SOURCES = %D%/audit.c %D%/audit.h %D%/carrier.h %D%/carrier-folder.c %D%/carrier-memory.c \
  %D%/columns-sum.c %D%/columns-sum.h \
  %D%/execute.c %D%/execute.h %D%/keys.c %D%/keys.h %D%/masks.c %D%/masks.h \
  %D%/part.h %D%/post.c %D%/post.h \
  %D%/psi.c %D%/psi.h %D%/psi-link.c %D%/round.c %D%/round.h %D%/state.c %D%/state.h
libtacit_serve_convenience += libtacit-silo.la
endif
