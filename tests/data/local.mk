UNIT_TESTS += %D%/t-blocks %D%/t-builder %D%/t-cell %D%/t-csv %D%/t-dataset %D%/t-file %D%/t-idx %D%/t-npy %D%/t-read %D%/t-schema %D%/t-schema-read %D%/t-table %D%/t-unit
%C%_t_builder_SOURCES = %D%/t-builder.c $(faulty)
%C%_t_builder_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_read_LDFLAGS = -Wl,--wrap=aligned_alloc -Wl,--wrap=strtod
%C%_t_idx_SOURCES = %D%/t-idx.c $(faulty)
%C%_t_idx_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_npy_SOURCES = %D%/t-npy.c $(faulty)
%C%_t_npy_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_schema_read_SOURCES = %D%/t-schema-read.c $(faulty)
%C%_t_schema_read_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_dataset_SOURCES = %D%/t-dataset.c $(faulty)
%C%_t_dataset_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_unit_SOURCES = %D%/t-unit.c $(faulty)
%C%_t_unit_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
