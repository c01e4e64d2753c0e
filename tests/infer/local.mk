UNIT_TESTS += %D%/t-simulate
