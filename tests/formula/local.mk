# Coefficients of formulas as R's packages have them, and columns as its model.matrix has them;
# reference.R and matrix.R say how they were made.
EXTRA_DIST += %D%/reference.R %D%/reference.csv %D%/simulated.csv %D%/matrix.R %D%/matrix.csv

formula_golden = %D%/golden.c %D%/golden.h
formula_data_sets = %D%/data-sets.c %D%/data-sets.h
formula_tables = %D%/tables.c %D%/tables.h $(formula_data_sets)
UNIT_TESTS += %D%/t-design %D%/t-model %D%/t-parse %D%/t-part
%C%_t_design_SOURCES = %D%/t-design.c $(formula_tables) $(faulty)
%C%_t_design_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_model_SOURCES = %D%/t-model.c $(formula_golden) $(formula_tables) $(faulty)
%C%_t_model_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_part_SOURCES = %D%/t-part.c $(faulty)
%C%_t_part_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_parse_SOURCES = %D%/t-parse.c $(formula_golden) $(faulty)
%C%_t_parse_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
EXTRA_DIST += %D%/texts.expected %D%/errors.expected %D%/described.expected %D%/refused.expected \
  %D%/written.inc
UNIT_TESTS += %D%/t-reference
%C%_t_reference_SOURCES = %D%/t-reference.c $(formula_tables)
LONG_TESTS += %D%/t-reference-all
%C%_t_reference_all_SOURCES = %D%/t-reference.c $(formula_tables)
%C%_t_reference_all_CPPFLAGS = $(AM_CPPFLAGS) -DEVERY_CASE
