noinst_PROGRAMS += %D%/annotators %D%/bounds %D%/cnn %D%/contraception %D%/first %D%/logistic %D%/mixture %D%/predict %D%/visits
examples_annotators_LDADD = libtacit.la -lm
examples_bounds_LDADD = libtacit.la -lm
examples_cnn_SOURCES = %D%/cnn.c %D%/images.c %D%/images.h %D%/options.c %D%/options.h
examples_cnn_LDADD = libtacit.la -lm
examples_contraception_SOURCES = %D%/contraception.c %D%/options.c %D%/options.h
examples_contraception_LDADD = libtacit.la -lm
examples_first_LDADD = libtacit.la -lm
examples_logistic_LDADD = libtacit.la -lm
examples_mixture_LDADD = libtacit.la -lm
examples_predict_LDADD = libtacit.la -lm
examples_visits_LDADD = libtacit.la -lm
if WITH_MPI
noinst_PROGRAMS += %D%/ranks
examples_ranks_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
examples_ranks_LDADD = libtacit-mpi.la libtacit.la $(MPI_LIBS)
if SERVE
noinst_PROGRAMS += %D%/hosts
examples_hosts_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
examples_hosts_LDADD = libtacit-mpi.la libtacit.la libtacit-serve.la $(MPI_LIBS) -lm
endif
endif
EXTRA_DIST += %D%/hosts.c %D%/ranks.c
if SERVE
noinst_PROGRAMS += %D%/columns %D%/owners %D%/parties %D%/serve %D%/silo-owner %D%/trio
examples_columns_LDADD = libtacit.la libtacit-serve.la -lm
examples_owners_LDADD = libtacit.la libtacit-serve.la -lm
examples_parties_LDADD = libtacit.la libtacit-serve.la -lm
examples_serve_LDADD = libtacit.la libtacit-serve.la -lm
examples_silo_owner_LDADD = libtacit.la libtacit-serve.la -lm
examples_trio_LDADD = libtacit.la libtacit-serve.la -lm
endif
EXTRA_DIST += %D%/columns.c %D%/owners.c %D%/parties.c %D%/serve.c %D%/serve-demo %D%/silo-owner.c %D%/trio.c
if HAVE_PNG
noinst_PROGRAMS += %D%/vae
endif
examples_vae_SOURCES = %D%/vae.c %D%/images.c %D%/images.h %D%/options.c %D%/options.h \
  %D%/picture.c %D%/picture.h
examples_vae_CPPFLAGS = $(AM_CPPFLAGS) $(PNG_CFLAGS)
examples_vae_LDADD = libtacit.la $(PNG_LIBS) -lm
dist_check_SCRIPTS += %D%/check-examples %D%/check-readme %D%/check-serving
