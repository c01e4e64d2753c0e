UNIT_TESTS += %D%/t-cell %D%/t-csv %D%/t-file %D%/t-read %D%/t-schema %D%/t-table
%C%_t_read_LDFLAGS = -Wl,--wrap=aligned_alloc -Wl,--wrap=strtod
