UNIT_TESTS += %D%/t-batch %D%/t-chains %D%/t-check %D%/t-convolution %D%/t-cost %D%/t-drawn %D%/t-dropped %D%/t-extras %D%/t-factor %D%/t-factor-noise %D%/t-group %D%/t-guide %D%/t-leaks %D%/t-local %D%/t-mapped %D%/t-neighbours %D%/t-optimizer %D%/t-options %D%/t-precision %D%/t-release %D%/t-rounding %D%/t-sampling %D%/t-step %D%/t-svi %D%/t-threads %D%/t-unit-forms %D%/t-units %D%/t-waves

%C%_t_optimizer_SOURCES = %D%/t-optimizer.c $(faulty)
%C%_t_optimizer_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_svi_SOURCES = %D%/t-svi.c tests/graph/faulty.c tests/graph/faulty.h
%C%_t_svi_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=aligned_alloc -Wl,--wrap=free
svi_scene = %D%/scene.c %D%/scene.h
%C%_t_batch_SOURCES = %D%/t-batch.c $(svi_scene)
%C%_t_sampling_SOURCES = %D%/t-sampling.c $(svi_scene)
%C%_t_units_SOURCES = %D%/t-units.c $(svi_scene) $(faulty)
%C%_t_units_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_chains_SOURCES = %D%/t-chains.c %D%/equal.c %D%/equal.h
%C%_t_waves_SOURCES = %D%/t-waves.c %D%/equal.c %D%/equal.h
%C%_t_rounding_SOURCES = %D%/t-rounding.c %D%/release.c %D%/release.h
%C%_t_drawn_SOURCES = %D%/t-drawn.c $(faulty)
%C%_t_drawn_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
dist_check_SCRIPTS += %D%/check-instructions
%C%_t_group_SOURCES = %D%/t-group.c %D%/ranks.c %D%/ranks.h

WITNESS = %D%/witness.c %D%/witness.h
WITNESS_LINK = -Wl,--wrap=dpi_grid_round
%C%_t_extras_SOURCES = %D%/t-extras.c $(WITNESS)
%C%_t_extras_LDFLAGS = $(AM_LDFLAGS) $(WITNESS_LINK)
%C%_t_leaks_SOURCES = %D%/t-leaks.c $(svi_scene) $(WITNESS)
%C%_t_leaks_LDFLAGS = $(AM_LDFLAGS) $(WITNESS_LINK)
%C%_t_step_SOURCES = %D%/t-step.c $(WITNESS)
%C%_t_step_LDFLAGS = $(AM_LDFLAGS) $(WITNESS_LINK)
svi_factors = %D%/factors.c %D%/factors.h $(table)
%C%_t_factor_SOURCES = %D%/t-factor.c $(svi_factors) $(faulty)
%C%_t_factor_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_factor_noise_SOURCES = %D%/t-factor-noise.c $(svi_factors)
%C%_t_local_SOURCES = %D%/t-local.c %D%/walkers.c %D%/walkers.h $(loop_models) $(table)
