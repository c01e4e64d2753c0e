UNIT_TESTS += %D%/t-alloc %D%/t-error %D%/t-float %D%/t-fork %D%/t-hosts %D%/t-plain %D%/t-pool %D%/t-store
%C%_t_fork_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=madvise
