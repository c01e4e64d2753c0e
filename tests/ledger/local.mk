UNIT_TESTS += %D%/t-data %D%/t-ledger %D%/t-reserve
ledger_folder = %D%/folder.c %D%/folder.h
%C%_t_data_SOURCES = %D%/t-data.c $(ledger_folder)
%C%_t_ledger_SOURCES = %D%/t-ledger.c $(ledger_folder)
%C%_t_reserve_SOURCES = %D%/t-reserve.c $(ledger_folder) $(faulty)
%C%_t_reserve_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
# Of src/infer, beside the ledger whose folder it uses.
bench = tests/infer/bench.c tests/infer/bench.h $(ledger_folder)
UNIT_TESTS += tests/infer/t-checkpoint tests/infer/t-save tests/infer/t-spend
tests_infer_t_checkpoint_SOURCES = tests/infer/t-checkpoint.c $(bench)
tests_infer_t_save_SOURCES = tests/infer/t-save.c $(bench) $(faulty)
tests_infer_t_save_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
tests_infer_t_spend_SOURCES = tests/infer/t-spend.c $(bench)

UNIT_TESTS += tests/infer/t-group-save
tests_infer_t_group_save_SOURCES = tests/infer/t-group-save.c tests/infer/ranks.c tests/infer/ranks.h \
  $(ledger_folder) $(faulty)
tests_infer_t_group_save_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)

UNIT_TESTS += tests/infer/t-bounds
tests_infer_t_bounds_SOURCES = tests/infer/t-bounds.c $(ledger_folder) $(faulty)
tests_infer_t_bounds_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)

# 50 kills in make check, 2000 in make check-long.
UNIT_TESTS += %D%/t-kill
%C%_t_kill_SOURCES = %D%/t-kill.c $(ledger_folder)
LONG_TESTS += %D%/kill-long
%C%_kill_long_SOURCES = %D%/t-kill.c $(ledger_folder)
%C%_kill_long_CPPFLAGS = $(AM_CPPFLAGS) -DKILLS=2000

# Something for tests/tools/check-ledger to show.
check_PROGRAMS += %D%/reserve-once
%C%_reserve_once_LDADD = $(TEST_PUBLIC)
