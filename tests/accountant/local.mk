UNIT_TESTS += %D%/t-account %D%/t-bound %D%/t-calibrate %D%/t-contour %D%/t-fft %D%/t-grid %D%/t-mass
oracle = %D%/oracle.c %D%/oracle.h
# The accountant stands on base, which lies in the core: it comes first.
accountant_test = libcheck.la libtacit-accountant.la libtacit-core.la $(TACIT_LIBS) $(CMOCKA_LIBS)
%C%_t_account_SOURCES = %D%/t-account.c $(oracle)
%C%_t_account_LDADD = $(accountant_test)
%C%_t_bound_LDFLAGS = -Wl,--wrap=dpi_grid_solve
%C%_t_bound_LDADD = $(accountant_test)
%C%_t_fft_LDADD = $(accountant_test)
%C%_t_grid_SOURCES = %D%/t-grid.c $(oracle)
%C%_t_grid_LDFLAGS = -Wl,--wrap=aligned_alloc
%C%_t_grid_LDADD = $(accountant_test)
%C%_t_mass_SOURCES = %D%/t-mass.c $(oracle)
%C%_t_mass_LDADD = $(accountant_test)
%C%_t_contour_SOURCES = %D%/t-contour.c $(oracle)
%C%_t_contour_LDFLAGS = -Wl,--wrap=aligned_alloc
%C%_t_contour_LDADD = $(accountant_test)
UNIT_TESTS += %D%/t-allocation %D%/t-atoms %D%/t-sums
%C%_t_atoms_LDADD = $(accountant_test)
UNIT_TESTS += %D%/t-monte-carlo
%C%_t_monte_carlo_LDADD = $(accountant_test)
%C%_t_allocation_SOURCES = %D%/t-allocation.c tests/graph/faulty.c tests/graph/faulty.h
%C%_t_allocation_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_allocation_LDADD = $(accountant_test)
%C%_t_sums_LDADD = $(accountant_test)
UNIT_TESTS += %D%/t-pair %D%/t-interval
%C%_t_interval_SOURCES = %D%/t-interval.c $(oracle)
%C%_t_interval_LDADD = $(accountant_test)
%C%_t_pair_SOURCES = %D%/t-pair.c %D%/naive.c %D%/naive.h
%C%_t_pair_LDFLAGS = -Wl,--wrap=aligned_alloc
%C%_t_pair_LDADD = $(accountant_test)
UNIT_TESTS += %D%/t-risk
%C%_t_risk_SOURCES = %D%/t-risk.c tests/graph/faulty.c tests/graph/faulty.h
%C%_t_risk_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_risk_LDADD = $(accountant_test)
UNIT_TESTS += %D%/t-check %D%/t-mechanisms
%C%_t_check_LDADD = $(accountant_test)
%C%_t_mechanisms_LDADD = $(accountant_test)
%C%_t_calibrate_SOURCES = %D%/t-calibrate.c $(oracle)
%C%_t_calibrate_LDADD = $(accountant_test)
UNIT_TESTS += %D%/t-worst
%C%_t_worst_SOURCES = %D%/t-worst.c %D%/naive.c %D%/naive.h
%C%_t_worst_LDADD = $(accountant_test)
UNIT_TESTS += %D%/t-binomial
%C%_t_binomial_SOURCES = %D%/t-binomial.c %D%/naive.c %D%/naive.h
%C%_t_binomial_LDADD = $(accountant_test)
LONG_TESTS += %D%/sweep
%C%_sweep_LDADD = $(accountant_test)
