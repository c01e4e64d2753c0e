UNIT_TESTS += %D%/t-options %D%/t-simulate
