# Plans of what many cards do under encryption, and how long they take.
if SERVE
noinst_LTLIBRARIES += libtacit-cluster.la
libtacit_cluster_la_SOURCES = \
  %D%/layer.c %D%/layer.h \
  %D%/network.c %D%/network.h \
  %D%/plan.c %D%/plan.h \
  %D%/polynomial.c %D%/polynomial.h \
  %D%/search.c %D%/search.h \
  %D%/simulate.c %D%/simulate.h \
  %D%/transform.c %D%/transform.h
endif
