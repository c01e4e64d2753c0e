# Plans of what many cards do under encryption, and how long they take.
if SERVE
noinst_LTLIBRARIES += libtacit-cluster.la
libtacit_cluster_la_SOURCES = \
  %D%/cards.c %D%/cards.h \
  %D%/layer.c %D%/layer.h \
  %D%/network.c %D%/network.h \
  %D%/plan.c %D%/plan.h \
  %D%/polynomial.c %D%/polynomial.h \
  %D%/run.c %D%/run.h \
  %D%/search.c %D%/search.h \
  %D%/simulate.c %D%/simulate.h \
  %D%/transform.c %D%/transform.h

if WITH_MPI
noinst_LTLIBRARIES += libtacit-ranks.la
libtacit_ranks_la_SOURCES = %D%/ranks.c %D%/ranks.h
libtacit_ranks_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
libtacit_ranks_la_LIBADD = $(MPI_LIBS)
endif
endif
