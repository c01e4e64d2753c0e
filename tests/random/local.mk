RANDOM_TESTS = %D%/t-allocation %D%/t-chacha %D%/t-discrete %D%/t-failure %D%/t-feistel %D%/t-gap %D%/t-grid %D%/t-grid-error %D%/t-gsl %D%/t-noise %D%/t-normal %D%/t-poisson %D%/t-rng \
  %D%/t-stream %D%/t-subset %D%/t-wide
UNIT_TESTS += $(RANDOM_TESTS)
RANDOM_CHI = %D%/chi.c %D%/chi.h
RANDOM_WRAPS = %D%/wraps.c %D%/wraps.h
WRAP_SYSTEM = -Wl,--wrap=aligned_alloc -Wl,--wrap=getentropy -Wl,--wrap=madvise
%C%_t_allocation_SOURCES = %D%/t-allocation.c $(RANDOM_CHI)
%C%_t_chacha_SOURCES = %D%/t-chacha.c
%C%_t_discrete_SOURCES = %D%/t-discrete.c $(RANDOM_CHI)
%C%_t_feistel_SOURCES = %D%/t-feistel.c $(RANDOM_CHI)
%C%_t_grid_SOURCES = %D%/t-grid.c $(RANDOM_CHI)
%C%_t_grid_error_SOURCES = %D%/t-grid-error.c %D%/kernel.h
%C%_t_gsl_SOURCES = %D%/t-gsl.c $(RANDOM_CHI)
%C%_t_noise_SOURCES = %D%/t-noise.c $(RANDOM_CHI) $(RANDOM_WRAPS)
%C%_t_noise_LDFLAGS = $(WRAP_SYSTEM) -Wl,--wrap=free
%C%_t_normal_SOURCES = %D%/t-normal.c $(RANDOM_CHI)
%C%_t_gap_SOURCES = %D%/t-gap.c $(RANDOM_CHI)
%C%_t_poisson_SOURCES = %D%/t-poisson.c $(RANDOM_CHI)
%C%_t_rng_SOURCES = %D%/t-rng.c $(RANDOM_CHI) $(RANDOM_WRAPS)
%C%_t_rng_LDFLAGS = $(WRAP_SYSTEM)
%C%_t_stream_SOURCES = %D%/t-stream.c $(RANDOM_CHI)
%C%_t_subset_SOURCES = %D%/t-subset.c $(RANDOM_CHI)
%C%_t_wide_SOURCES = %D%/t-wide.c
LONG_TESTS += %D%/t-grid-long %D%/t-rough-long
%C%_t_grid_long_SOURCES = %D%/t-grid-long.c $(RANDOM_CHI)
%C%_t_rough_long_SOURCES = %D%/t-rough-long.c %D%/kernel.h
