# Faults that tests must catch: each is planted alone in a copy of the sources.  Takes minutes.
EXTRA_DIST += %D%

check-faults:
	rm -rf faults && $(MKDIR_P) faults/build
	$(MAKE) $(AM_MAKEFLAGS) -s distdir distdir=faults/source && chmod -R u+w faults/source
	cd faults/build && ../source/configure --silent --disable-shared CC='$(CC)' CFLAGS='$(CFLAGS)' \
	  >configure.out 2>&1 || { tail -n 30 configure.out; exit 1; }
	MAKE='$(MAKE)' $(SHELL) faults/source/%D%/check-faults faults/source faults/build
clean-local: clean-faults
clean-faults:
	rm -rf faults
.PHONY: check-faults clean-faults
