UNIT_TESTS += %D%/t-audit %D%/t-bound %D%/t-claim

%C%_t_audit_SOURCES = %D%/t-audit.c $(faulty)
%C%_t_audit_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_claim_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=dpi_grid_round
UNIT_TESTS += %D%/t-asking
%C%_t_asking_SOURCES = %D%/t-asking.c $(faulty)
%C%_t_asking_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK) -Wl,--wrap=dpi_grid_round
UNIT_TESTS += %D%/t-looped
%C%_t_looped_SOURCES = %D%/t-looped.c $(faulty)
%C%_t_looped_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK) -Wl,--wrap=dpi_grid_round
