# Not built by `make all`: make bench/b-random && bench/b-random.
EXTRA_PROGRAMS += %D%/b-random
%C%_b_random_LDADD = libtacit-core.la $(TACIT_LIBS)
# make bench/hierarchical_logistic && bench/hierarchical_logistic
EXTRA_PROGRAMS += %D%/hierarchical_logistic
%C%_hierarchical_logistic_SOURCES = %D%/hierarchical_logistic.c %D%/numpy-legacy.c %D%/numpy-legacy.h
%C%_hierarchical_logistic_LDADD = libtacit.la -lm
