UNIT_TESTS += %D%/t-guide
%C%_t_guide_SOURCES = %D%/t-guide.c %D%/guide.h %D%/regression.c %D%/mixtures.c %D%/partial.c
dist_check_SCRIPTS += %D%/check-lines
