examplesdatadir = $(pkgdatadir)/examples
dist_examplesdata_DATA = %D%/contraception.csv %D%/contraception.schema %D%/digits-idx3-ubyte %D%/digits-labels-idx1-ubyte %D%/xor.onnx
EXTRA_DIST += %D%/README.md
