UNIT_TESTS += %D%/t-lower %D%/t-program %D%/t-sheet
