UNIT_TESTS += %D%/t-dataset %D%/t-factored %D%/t-run
%C%_t_dataset_SOURCES = %D%/t-dataset.c $(faulty)
%C%_t_dataset_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_run_SOURCES = %D%/t-run.c %D%/setting.c %D%/setting.h $(faulty)
%C%_t_run_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
