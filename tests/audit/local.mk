UNIT_TESTS += %D%/t-audit %D%/t-bound

%C%_t_audit_SOURCES = %D%/t-audit.c $(faulty)
%C%_t_audit_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
