examplesdatadir = $(pkgdatadir)/examples
dist_examplesdata_DATA = %D%/contraception.csv
EXTRA_DIST += %D%/README.md
