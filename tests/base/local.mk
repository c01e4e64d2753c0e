UNIT_TESTS += %D%/t-alloc %D%/t-error %D%/t-float %D%/t-pool
