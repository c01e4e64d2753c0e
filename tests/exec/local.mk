UNIT_TESTS += %D%/t-chains %D%/t-clip %D%/t-describe %D%/t-factored %D%/t-factors %D%/t-networks %D%/t-run \
  %D%/t-single %D%/t-strips %D%/t-terms %D%/t-weights
%C%_t_run_SOURCES = %D%/t-run.c %D%/setting.c %D%/setting.h $(faulty)
%C%_t_run_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_clip_SOURCES = %D%/t-clip.c %D%/setting.c %D%/setting.h $(faulty)
%C%_t_clip_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_single_SOURCES = %D%/t-single.c %D%/setting.c %D%/setting.h $(faulty)
%C%_t_single_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_factors_SOURCES = %D%/t-factors.c $(faulty)
%C%_t_factors_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_networks_SOURCES = %D%/t-networks.c %D%/network.c %D%/network.h
%C%_t_chains_SOURCES = %D%/t-chains.c $(faulty)
%C%_t_chains_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_terms_SOURCES = %D%/t-terms.c $(faulty)
%C%_t_terms_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_weights_SOURCES = %D%/t-weights.c
%C%_t_strips_SOURCES = %D%/t-strips.c %D%/network.c %D%/network.h $(faulty)
%C%_t_strips_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
