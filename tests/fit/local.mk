UNIT_TESTS += %D%/t-draws %D%/t-evaluate %D%/t-posterior %D%/t-simulate

fit_scene = %D%/scene.c %D%/scene.h
%C%_t_draws_SOURCES = %D%/t-draws.c $(fit_scene) $(faulty)
%C%_t_draws_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_evaluate_SOURCES = %D%/t-evaluate.c $(fit_scene) $(faulty)
%C%_t_evaluate_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_posterior_SOURCES = %D%/t-posterior.c $(faulty)
%C%_t_posterior_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
