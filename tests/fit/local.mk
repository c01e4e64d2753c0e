UNIT_TESTS += %D%/t-draws %D%/t-evaluate %D%/t-finish %D%/t-simulate %D%/t-walk

fit_scene = %D%/scene.c %D%/scene.h
fit_records = %D%/records.c %D%/records.h $(fit_scene)
%C%_t_draws_SOURCES = %D%/t-draws.c $(fit_scene) $(faulty)
%C%_t_draws_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_evaluate_SOURCES = %D%/t-evaluate.c $(fit_records)
%C%_t_finish_SOURCES = %D%/t-finish.c $(faulty)
%C%_t_finish_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_walk_SOURCES = %D%/t-walk.c $(fit_records) $(faulty)
%C%_t_walk_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
