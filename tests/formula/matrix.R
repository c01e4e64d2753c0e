#!/usr/bin/env Rscript
# Columns of formulas as R's model.matrix has them, written to matrix.csv.
#
#   Rscript matrix.R simulated.csv > matrix.csv
#
# A line is a column: formula, name, its values in some records of simulated.csv (the first, the 68th,
# ...).  (Intercept) is not listed.
s <- read.csv(commandArgs(trailingOnly = TRUE)[1])
s$f <- factor(s$f)
records <- seq(1, 800, 67)
formulas <- c(
    "x + z", "0 + x", "x:z", "x * z", "I(x^2) + log(exposure)", "I((x + z) / 2) + sqrt(exposure)",
    "f", "0 + f", "0 + f + factor(h)", "factor(h) + f", "x + f", "x * f", "x:f", "x:f + z", "f:x + f", "0 + x:f",
    "f:factor(h)", "f * factor(h)", "f + f:factor(h)", "f/x", "f/factor(h)", "x/f", "0 + x + f",
    "C(f, sum)", "C(f, sum) * x", "0 + C(f, sum)", "C(f, sum):factor(h)", "(f + factor(h) + x)^2", "(f + factor(h) + x)^3",
    "f:factor(h):x", "poly(x, 3, raw = TRUE)", "poly(x, 2, raw = TRUE):f", "exp(x) + log1p(exposure) + x:z:f",
    "x - x:f + f*x", "(x + z + f)^2 - x:z", "log10(exposure):f", "h + f", "h:f", "0 + factor(h):f", "0 + z + factor(h):f")
cat("formula,name,values\n")
for (text in formulas) {
    frame <- s
    contrasts(frame$f) <- contr.treatment(levels(s$f)) # so that C(f, sum) alone has others
    m <- model.matrix(as.formula(paste("~", text)), frame)[records, , drop = FALSE]
    for (name in setdiff(colnames(m), "(Intercept)"))
        cat(sprintf("\"%s\",\"%s\",%s\n", text, name, paste(sprintf("%.15g", m[, name]), collapse = ",")))
}
