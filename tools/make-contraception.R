# Writes examples/data/contraception.csv from the R package mlmRev (Debian: r-cran-mlmrev):
#   Rscript tools/make-contraception.R > examples/data/contraception.csv
data(Contraception, package = "mlmRev")
write.csv(Contraception, stdout(), row.names = FALSE, quote = FALSE)
