UNIT_TESTS += %D%/t-posterior %D%/t-simulate
%C%_t_posterior_SOURCES = %D%/t-posterior.c $(faulty)
%C%_t_posterior_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
