UNIT_TESTS += %D%/t-hmc %D%/t-hmc-chains %D%/t-mixing %D%/t-nuts %D%/t-whiten

densities = %D%/densities.c %D%/densities.h $(faulty)
%C%_t_hmc_SOURCES = %D%/t-hmc.c $(densities)
%C%_t_hmc_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_hmc_chains_SOURCES = %D%/t-hmc-chains.c $(densities)
%C%_t_hmc_chains_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_mixing_SOURCES = %D%/t-mixing.c $(faulty)
%C%_t_mixing_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
UNIT_TESTS += %D%/t-clip
UNIT_TESTS += %D%/t-psi
%C%_t_psi_SOURCES = %D%/t-psi.c tests/dist/fine.c tests/dist/fine.h tests/dist/cases.c \
  tests/dist/cases.h tests/dist/reference.h
UNIT_TESTS += %D%/t-infer
%C%_t_infer_SOURCES = %D%/t-infer.c
readers = %D%/readers.c %D%/readers.h
UNIT_TESTS += %D%/t-inquiries
%C%_t_inquiries_SOURCES = %D%/t-inquiries.c $(readers)
%C%_t_inquiries_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=dpi_scan_run

RELEASES = %D%/releases.c %D%/releases.h
RELEASES_LINK = -Wl,--wrap=dpi_release_begin -Wl,--wrap=dpi_release_end -Wl,--wrap=dpi_grid_round
UNIT_TESTS += %D%/t-sensitivity
%C%_t_sensitivity_SOURCES = %D%/t-sensitivity.c $(readers) $(RELEASES)
%C%_t_sensitivity_LDFLAGS = $(AM_LDFLAGS) $(RELEASES_LINK)
UNIT_TESTS += %D%/t-scan
%C%_t_scan_SOURCES = %D%/t-scan.c $(readers) $(RELEASES)
%C%_t_scan_LDFLAGS = $(AM_LDFLAGS) $(RELEASES_LINK)
UNIT_TESTS += %D%/t-paid
%C%_t_paid_SOURCES = %D%/t-paid.c $(readers)
UNIT_TESTS += %D%/t-budget
UNIT_TESTS += %D%/t-scaling %D%/t-bending
%C%_t_bending_SOURCES = %D%/t-bending.c $(readers)
UNIT_TESTS += %D%/t-laplace %D%/t-prior %D%/t-rows
UNIT_TESTS += %D%/t-releases
%C%_t_releases_SOURCES = %D%/t-releases.c $(readers) $(RELEASES) $(ledger_folder)
%C%_t_releases_LDFLAGS = $(AM_LDFLAGS) $(RELEASES_LINK)
UNIT_TESTS += %D%/t-reservation
%C%_t_reservation_SOURCES = %D%/t-reservation.c $(readers) $(RELEASES) $(ledger_folder) $(faulty)
%C%_t_reservation_LDFLAGS = $(AM_LDFLAGS) $(RELEASES_LINK) $(FAULTY_LINK)
UNIT_TESTS += %D%/t-arrow
%C%_t_arrow_SOURCES = %D%/t-arrow.c $(readers)
UNIT_TESTS += %D%/t-diagnose
UNIT_TESTS += %D%/t-drift
%C%_t_drift_SOURCES = %D%/t-drift.c $(readers)
UNIT_TESTS += %D%/t-invent %D%/t-plan
%C%_t_invent_SOURCES = %D%/t-invent.c $(faulty)
%C%_t_invent_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
UNIT_TESTS += %D%/t-surrogate
%C%_t_surrogate_SOURCES = %D%/t-surrogate.c $(readers)
UNIT_TESTS += %D%/t-wild
%C%_t_wild_SOURCES = %D%/t-wild.c $(readers)
loop_models = %D%/loop-models.c %D%/loop-models.h
UNIT_TESTS += %D%/t-loop %D%/t-loop-releases
%C%_t_loop_SOURCES = %D%/t-loop.c $(loop_models) $(ledger_folder) $(faulty)
%C%_t_loop_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_loop_releases_SOURCES = %D%/t-loop-releases.c $(loop_models) $(RELEASES) $(ledger_folder)
%C%_t_loop_releases_LDFLAGS = $(AM_LDFLAGS) $(RELEASES_LINK)
