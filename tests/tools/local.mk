# The tool's own parts.
UNIT_TESTS += %D%/t-picture
%C%_t_picture_SOURCES = %D%/t-picture.c $(picture_sources) tools/options.c tools/options.h tools/option-table.c
%C%_t_picture_LDADD = $(TEST_PUBLIC)
UNIT_TESTS += %D%/t-combining
%C%_t_combining_SOURCES = %D%/t-combining.c tools/combining.c tools/combining.h
