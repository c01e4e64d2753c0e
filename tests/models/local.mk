UNIT_TESTS += %D%/t-gaussian-mixture %D%/t-network %D%/t-regression
models_world = %D%/world.c %D%/world.h
%C%_t_gaussian_mixture_SOURCES = %D%/t-gaussian-mixture.c $(models_world)
%C%_t_gaussian_mixture_LDADD = $(TEST_PUBLIC)
%C%_t_network_SOURCES = %D%/t-network.c $(models_world)
%C%_t_network_LDADD = $(TEST_PUBLIC)
%C%_t_regression_SOURCES = %D%/t-regression.c $(models_world)
%C%_t_regression_LDADD = $(TEST_PUBLIC)
