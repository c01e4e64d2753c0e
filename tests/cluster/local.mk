EXTRA_DIST += %D%/check-scale-out
if SERVE
TEST_CLUSTER = libcheck.la libtacit-cluster.la libtacit-internal.la $(TACIT_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += %D%/t-layer %D%/t-memory %D%/t-network %D%/t-plan %D%/t-polynomial %D%/t-run %D%/t-search %D%/t-simulate %D%/t-transform
if SIMGRID
UNIT_TESTS += %D%/t-simgrid
%C%_t_simgrid_CPPFLAGS = $(AM_CPPFLAGS) $(SIMGRID_CFLAGS)
%C%_t_simgrid_LDADD = $(TEST_CLUSTER) $(SIMGRID_LIBS)
endif
%C%_t_layer_LDADD = $(TEST_CLUSTER)
%C%_t_memory_LDADD = $(TEST_CLUSTER)
%C%_t_memory_LDFLAGS = -Wl,--wrap=aligned_alloc
%C%_t_network_LDADD = $(TEST_CLUSTER)
%C%_t_plan_LDADD = $(TEST_CLUSTER)
%C%_t_polynomial_LDADD = $(TEST_CLUSTER)
%C%_t_run_SOURCES = %D%/t-run.c %D%/scene.c %D%/scene.h tests/fhe/toy.c tests/fhe/toy.h
%C%_t_run_LDFLAGS = -Wl,--wrap=aligned_alloc
%C%_t_run_LDADD = libcheck.la libtacit-cluster.la libtacit-fhe.la libtacit-crypto.la libtacit-internal.la $(TACIT_LIBS) $(SERVE_LIBS) $(CMOCKA_LIBS)
%C%_t_search_LDADD = $(TEST_CLUSTER)
%C%_t_simulate_LDADD = $(TEST_CLUSTER)
%C%_t_transform_LDADD = $(TEST_CLUSTER)

if WITH_MPI
check_PROGRAMS += %D%/ranks
%C%_ranks_SOURCES = %D%/ranks.c %D%/scene.c %D%/scene.h tests/fhe/toy.c tests/fhe/toy.h
%C%_ranks_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
%C%_ranks_LDADD = libtacit-ranks.la $(%C%_t_run_LDADD)
TESTS += %D%/check-scale-out
endif
endif
