# Groups of MPI processes, a library of their own so that libtacit does not need MPI.
EXTRA_DIST += %D%/mpi.c include/tacit/mpi.h tests/mpi/check-ranks
if WITH_MPI
lib_LTLIBRARIES += libtacit-mpi.la
libtacit_mpi_la_SOURCES = %D%/mpi.c
libtacit_mpi_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
libtacit_mpi_la_LIBADD = libtacit.la $(MPI_LIBS)
libtacit_mpi_la_LDFLAGS = -version-info $(TACIT_VERSION_INFO) -no-undefined
tacitinclude_HEADERS += include/tacit/mpi.h
pkgconfig_DATA += tacit-mpi.pc

TESTS += tests/mpi/check-ranks
endif
