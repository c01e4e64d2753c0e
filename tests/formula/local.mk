# Coefficients of formulas as R's packages have them; reference.R says how they were made.
EXTRA_DIST += %D%/reference.R %D%/reference.csv %D%/simulated.csv
