UNIT_TESTS += %D%/t-admit %D%/t-data %D%/t-ledger %D%/t-overlap %D%/t-sketch %D%/t-reserve
ledger_folder = %D%/folder.c %D%/folder.h
%C%_t_admit_SOURCES = %D%/t-admit.c $(ledger_folder)
%C%_t_admit_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=dp_account_epsilon
%C%_t_overlap_SOURCES = %D%/t-overlap.c $(ledger_folder) $(faulty)
%C%_t_overlap_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_data_SOURCES = %D%/t-data.c $(ledger_folder)
%C%_t_ledger_SOURCES = %D%/t-ledger.c $(ledger_folder)
%C%_t_reserve_SOURCES = %D%/t-reserve.c $(ledger_folder) $(faulty)
%C%_t_reserve_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
# Of src/svi, beside the ledger whose folder it uses.
bench = tests/svi/bench.c tests/svi/bench.h $(ledger_folder)
UNIT_TESTS += tests/svi/t-checkpoint tests/svi/t-save tests/svi/t-spend
tests_svi_t_checkpoint_SOURCES = tests/svi/t-checkpoint.c $(bench)
tests_svi_t_save_SOURCES = tests/svi/t-save.c $(bench) $(faulty)
tests_svi_t_save_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
tests_svi_t_spend_SOURCES = tests/svi/t-spend.c $(bench)
UNIT_TESTS += tests/svi/t-fork
tests_svi_t_fork_SOURCES = tests/svi/t-fork.c $(bench)

UNIT_TESTS += tests/svi/t-group-save
tests_svi_t_group_save_SOURCES = tests/svi/t-group-save.c tests/svi/ranks.c tests/svi/ranks.h \
  $(ledger_folder) $(faulty)
tests_svi_t_group_save_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)

UNIT_TESTS += tests/bounds/t-bounds tests/bounds/t-counts
tests_bounds_t_counts_SOURCES = tests/bounds/t-counts.c $(ledger_folder) $(faulty)
tests_bounds_t_counts_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
tests_bounds_t_bounds_SOURCES = tests/bounds/t-bounds.c $(ledger_folder) $(faulty)
tests_bounds_t_bounds_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)

# 50 kills in make check, 2000 in make check-long.
UNIT_TESTS += %D%/t-kill
%C%_t_kill_SOURCES = %D%/t-kill.c $(ledger_folder)
LONG_TESTS += %D%/kill-long
%C%_kill_long_SOURCES = %D%/t-kill.c $(ledger_folder)
%C%_kill_long_CPPFLAGS = $(AM_CPPFLAGS) -DKILLS=2000

# Something for tests/tools/check-ledger to show.
check_PROGRAMS += %D%/reserve-once
%C%_reserve_once_LDADD = $(TEST_PUBLIC)
