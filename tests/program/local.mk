UNIT_TESTS += %D%/t-program %D%/t-sheet
