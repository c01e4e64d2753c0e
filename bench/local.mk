# Not built by `make all`: make bench/b-random && bench/b-random.
EXTRA_PROGRAMS += %D%/b-random
%C%_b_random_LDADD = libtacit-core.la $(TACIT_LIBS)
