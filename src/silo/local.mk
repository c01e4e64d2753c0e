# Fits over several owners: programs, checks, secure sums and what moves them.
if SERVE
noinst_LTLIBRARIES += libtacit-silo.la
libtacit_silo_la_SOURCES = %D%/carrier.h %D%/execute.h %D%/part.h %D%/post.h
libtacit_serve_convenience += libtacit-silo.la
endif
