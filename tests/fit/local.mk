UNIT_TESTS += %D%/t-draws %D%/t-evaluate %D%/t-finish %D%/t-kept %D%/t-report %D%/t-simulate %D%/t-split
UNIT_TESTS += %D%/t-group-names %D%/t-prior %D%/t-walk

fit_scene = %D%/scene.c %D%/scene.h
fit_records = %D%/records.c %D%/records.h $(fit_scene)
%C%_t_draws_SOURCES = %D%/t-draws.c $(fit_scene) $(faulty)
%C%_t_draws_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_evaluate_SOURCES = %D%/t-evaluate.c $(fit_records)
%C%_t_finish_SOURCES = %D%/t-finish.c $(faulty)
%C%_t_finish_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_kept_SOURCES = %D%/t-kept.c $(fit_scene) $(faulty)
%C%_t_kept_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_prior_SOURCES = %D%/t-prior.c $(fit_scene) $(faulty)
%C%_t_prior_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_report_SOURCES = %D%/t-report.c $(fit_scene)
%C%_t_walk_SOURCES = %D%/t-walk.c $(fit_records) $(faulty)
%C%_t_walk_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)

# Files; the other process of t-file.
fit_files = %D%/fits.c %D%/fits.h %D%/answers.c %D%/answers.h $(random_model)
fit_mutate = %D%/mutate.c %D%/mutate.h
fit_small = %D%/small.c %D%/small.h
UNIT_TESTS += %D%/t-file %D%/t-file-hostile %D%/t-mutate %D%/t-print
%C%_t_file_SOURCES = %D%/t-file.c $(fit_small) $(fit_files) $(fit_mutate) $(ledger_folder) $(faulty)
%C%_t_file_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_file_hostile_SOURCES = %D%/t-file-hostile.c $(fit_small) $(fit_files) $(fit_mutate)
%C%_t_print_SOURCES = %D%/t-print.c %D%/fits.c %D%/fits.h $(fit_scene) $(random_model) $(faulty)
%C%_t_print_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
check_PROGRAMS += %D%/answer-files
%C%_answer_files_SOURCES = %D%/answer-files.c %D%/answers.c %D%/answers.h $(random_records)

# 20 000 changes in make check, a million in make check-long.
%C%_t_mutate_SOURCES = %D%/t-mutate.c $(fit_files) $(fit_mutate)
LONG_TESTS += %D%/mutate-long
%C%_mutate_long_SOURCES = %D%/t-mutate.c $(fit_files) $(fit_mutate)
%C%_mutate_long_CPPFLAGS = $(AM_CPPFLAGS) -DCHANGES=1000000
