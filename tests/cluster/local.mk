if SERVE
TEST_CLUSTER = libcheck.la libtacit-cluster.la libtacit-internal.la $(TACIT_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += %D%/t-layer %D%/t-memory %D%/t-network %D%/t-plan %D%/t-polynomial %D%/t-search %D%/t-simulate %D%/t-transform
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
%C%_t_search_LDADD = $(TEST_CLUSTER)
%C%_t_simulate_LDADD = $(TEST_CLUSTER)
%C%_t_transform_LDADD = $(TEST_CLUSTER)
endif
