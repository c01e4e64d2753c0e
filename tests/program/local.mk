UNIT_TESTS += %D%/t-decimals %D%/t-lower %D%/t-program %D%/t-range %D%/t-sheet
