UNIT_TESTS += %D%/t-family

dist_help = %D%/cases.c %D%/cases.h %D%/reference.h
EXTRA_DIST += %D%/reference.py
%C%_t_family_SOURCES = %D%/t-family.c $(dist_help)
%C%_t_family_LDFLAGS = -Wl,--wrap=aligned_alloc
