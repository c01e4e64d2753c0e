UNIT_TESTS += %D%/t-guide
%C%_t_guide_SOURCES = %D%/t-guide.c %D%/guide.h %D%/regression.c %D%/mixtures.c %D%/partial.c \
  %D%/discrete.c %D%/dynamics.c %D%/brms.c
dist_check_SCRIPTS += %D%/check-lines
UNIT_TESTS += %D%/t-drawn
%C%_t_drawn_SOURCES = %D%/t-drawn.c %D%/guide.h %D%/dynamics.c
UNIT_TESTS += %D%/t-written
%C%_t_written_SOURCES = %D%/t-written.c %D%/guide.h %D%/discrete.c %D%/dynamics.c
UNIT_TESTS += %D%/t-formulas
