# Coefficients of formulas as R's packages have them; reference.R says how they were made.
EXTRA_DIST += %D%/reference.R %D%/reference.csv %D%/simulated.csv

formula_golden = %D%/golden.c %D%/golden.h
UNIT_TESTS += %D%/t-parse
%C%_t_parse_SOURCES = %D%/t-parse.c $(formula_golden) $(faulty)
%C%_t_parse_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
EXTRA_DIST += %D%/texts.expected %D%/errors.expected
