UNIT_TESTS += %D%/t-constructors %D%/t-draw %D%/t-family %D%/t-joint %D%/t-mean %D%/t-mixture %D%/t-ordered %D%/t-outcomes %D%/t-cdf \
  %D%/t-shapes %D%/t-simplex %D%/t-support

dist_help = %D%/cases.c %D%/cases.h %D%/reference.h
EXTRA_DIST += %D%/reference.py %D%/reference-cdf.py %D%/reference-joint.py
%C%_t_cdf_SOURCES = %D%/t-cdf.c %D%/reference-cdf.h $(dist_help)
%C%_t_draw_SOURCES = %D%/t-draw.c $(dist_help)
%C%_t_family_SOURCES = %D%/t-family.c $(dist_help)
dist_joint = %D%/joint.c %D%/joint.h $(dist_help)
%C%_t_joint_SOURCES = %D%/t-joint.c %D%/reference-joint.h $(dist_joint) $(faulty)
%C%_t_mean_SOURCES = %D%/t-mean.c $(dist_joint)
%C%_t_mixture_SOURCES = %D%/t-mixture.c $(dist_joint)
%C%_t_outcomes_SOURCES = %D%/t-outcomes.c %D%/fine.c %D%/fine.h %D%/information.c %D%/information.h \
  $(dist_help)
dist_bijector = %D%/bijector.c %D%/bijector.h
UNIT_TESTS += %D%/t-multivariate
%C%_t_multivariate_SOURCES = %D%/t-multivariate.c $(dist_joint)
UNIT_TESTS += %D%/t-stretch %D%/t-time-series
%C%_t_stretch_SOURCES = %D%/t-stretch.c $(dist_joint)
%C%_t_time_series_SOURCES = %D%/t-time-series.c $(dist_joint)
UNIT_TESTS += %D%/t-lkj
%C%_t_lkj_SOURCES = %D%/t-lkj.c $(dist_joint) $(dist_bijector)
UNIT_TESTS += %D%/t-unit-vector %D%/t-wishart
%C%_t_wishart_SOURCES = %D%/t-wishart.c $(dist_joint) $(dist_bijector)
%C%_t_unit_vector_SOURCES = %D%/t-unit-vector.c $(dist_joint) $(dist_bijector)
%C%_t_ordered_SOURCES = %D%/t-ordered.c $(dist_joint) $(dist_bijector)
%C%_t_simplex_SOURCES = %D%/t-simplex.c $(dist_joint) $(dist_bijector)
%C%_t_shapes_SOURCES = %D%/t-shapes.c $(dist_help)
%C%_t_family_LDFLAGS = -Wl,--wrap=aligned_alloc
%C%_t_joint_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)

UNIT_TESTS += %D%/t-truncated %D%/t-forms
EXTRA_DIST += %D%/reference-truncated.py %D%/reference-forms.py
formed = %D%/formed.c %D%/formed.h $(dist_help)
%C%_t_truncated_SOURCES = %D%/t-truncated.c %D%/reference-truncated.h $(formed)
%C%_t_forms_SOURCES = %D%/t-forms.c %D%/reference-forms.h $(formed)
UNIT_TESTS += %D%/t-edges
%C%_t_edges_SOURCES = %D%/t-edges.c $(formed)
UNIT_TESTS += %D%/t-multinomial
%C%_t_multinomial_SOURCES = %D%/t-multinomial.c $(dist_joint)
