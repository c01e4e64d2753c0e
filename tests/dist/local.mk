UNIT_TESTS += %D%/t-constructors %D%/t-draw %D%/t-family %D%/t-joint %D%/t-shapes \
  %D%/t-support

dist_help = %D%/cases.c %D%/cases.h %D%/reference.h
EXTRA_DIST += %D%/reference.py %D%/reference-joint.py
%C%_t_draw_SOURCES = %D%/t-draw.c $(dist_help)
%C%_t_family_SOURCES = %D%/t-family.c $(dist_help)
%C%_t_joint_SOURCES = %D%/t-joint.c %D%/reference-joint.h $(dist_help)
%C%_t_shapes_SOURCES = %D%/t-shapes.c $(dist_help)
%C%_t_family_LDFLAGS = -Wl,--wrap=aligned_alloc
%C%_t_joint_LDFLAGS = -Wl,--wrap=aligned_alloc
