# Shell functions shared by ./runtests, ./quickstart and .ci/run; POSIX sh, sourced from the top
# source folder.
# shellcheck shell=sh disable=SC2034

BUILD_PACKAGES="build-essential autoconf automake libtool pkg-config libgsl-dev libopenblas-dev
libfftw3-dev libsodium-dev libsqlite3-dev zlib1g-dev libssl-dev libgmp-dev libcurl4-openssl-dev
libprotobuf-c-dev protobuf-c-compiler libonnx-dev gnuplot-nox libnetcdf-dev"
TEST_PACKAGES="libcmocka-dev libpng-dev libpq-dev sqlite3 valgrind libopenmpi-dev openmpi-bin netcdf-bin"

say()
{
    printf '== %s\n' "$*"
}

die()
{
    printf '%s\n' "$*" >&2
    exit 1
}

cores()
{
    nproc 2>/dev/null || echo 2
}

# Installs those of the named Debian packages that are missing, or says who must do what.
need_packages()
{
    if ! command -v dpkg-query >/dev/null 2>&1; then
        say "not a Debian system: taking it that these are installed under their names here:" "$@"
        return 0
    fi
    missing=
    for package in "$@"; do
        case $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null) in
        *"ok installed") ;;
        *) missing="$missing $package" ;;
        esac
    done
    if [ -z "$missing" ]; then
        say "all needed packages are installed"
        return 0
    fi
    if [ "$(id -u)" -ne 0 ]; then
        die "an administrator must run: apt-get update && apt-get install -y$missing"
    fi
    # shellcheck disable=SC2086
    if ! apt-cache show $missing >/dev/null 2>&1; then
        update_package_lists
    fi
    say "installing$missing"
    # shellcheck disable=SC2086
    install_packages $missing || {
        say "that did not work; perhaps the package lists are old"
        update_package_lists
        install_packages $missing || die "cannot install$missing; see the lines above"
    }
}

update_package_lists()
{
    say "fetching the package lists (apt-get update)"
    apt-get update -q </dev/null || die "apt-get update failed; check the network"
}

install_packages()
{
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@" </dev/null
}

# Makes ./configure when it is missing or older than what it is made from.
bootstrap_if_needed()
{
    if [ -f configure ] && [ -f Makefile.in ] &&
        [ -z "$(find configure.ac Makefile.am ./*/local.mk ./*/*/local.mk -newer Makefile.in)" ]; then
        return 0
    fi
    say "making ./configure (./bootstrap)"
    ./bootstrap >bootstrap.log 2>&1 || {
        cat bootstrap.log
        die "./bootstrap failed; its output stands above"
    }
    rm -f bootstrap.log
}

# Sets source to where FOLDER finds the sources: this folder, or a copy where it is configured in
# place, since configure refuses to build elsewhere from such a folder.
find_source()
{
    source=..
    if [ ! -f config.status ]; then
        return 0
    fi
    say "this folder is configured in place; building from a copy of its sources, $1-source"
    make -s distdir distdir="$1-source" </dev/null >"$1-source.log" 2>&1 || {
        tail -n 30 "$1-source.log"
        die "copying the sources failed; run make distclean and try again"
    }
    rm -f "$1-source.log"
    source=../$1-source
}

# build_in FOLDER [CONFIGURE ARGUMENT...]: configures and builds there.
build_in()
{
    folder=$1
    shift
    bootstrap_if_needed
    find_source "$folder"
    mkdir -p "$folder" || die "cannot write here; run it in a checkout of your own"
    say "configuring in $folder${1:+ $*}"
    (cd "$folder" && "$source/configure" --silent "$@" >configure.out 2>&1) || {
        tail -n 30 "$folder/configure.out"
        die "configure failed; more is in $folder/config.log"
    }
    say "building in $folder"
    make -C "$folder" --no-print-directory -s -j"$(cores)" </dev/null ||
        die "the build failed; see the lines above"
}

# check_in FOLDER: runs the tests there, all of them even when some fail.  Sets make_failed.
check_in()
{
    find "$1" -name '*.trs' -exec rm -f {} +
    say "running the tests in $1"
    make_failed=0
    make -C "$1" --no-print-directory -k -j"$(cores)" check </dev/null || make_failed=1
    count_tests "$1"
    if [ "$make_failed" -ne 0 ] && [ "$failed" -eq 0 ]; then
        say "make check failed outside the tests; see the lines above"
        failed=1
    fi
}

# count_tests FOLDER: sets passed, failed and skipped from the results of the test driver.  Each TAP
# line is a test; a program that crashes, or stops before its last test, is one more failure, but not
# one that only ends with a status after a failed test (which stands in the log).
count_tests()
{
    counts=$({ find "$1" -name '*.trs' -exec awk '
        function close_file() {
            if (errors > ended || (ended > 0 && !bad))
                failed++
            errors = ended = bad = 0
        }
        FNR == 1 {
            close_file()
            log_file = FILENAME
            sub(/trs$/, "log", log_file)
            while ((getline line < log_file) > 0)
                ended += line ~ /^ERROR: .* - exited with status [0-9]+$/
            close(log_file)
        }
        /^:test-result: X?PASS/ { if (/XPASS/) { failed++; bad = 1 } else passed++ }
        /^:test-result: XFAIL/ { passed++ }
        /^:test-result: FAIL/ { failed++; bad = 1 }
        /^:test-result: SKIP/ { skipped++ }
        /^:test-result: ERROR/ { errors++ }
        END { close_file(); print passed + 0, failed + 0, skipped + 0 }' {} + || true; } |
        awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }')
    passed=${counts%% *}
    skipped=${counts##* }
    failed=${counts#* }
    failed=${failed% *}
}

# failing_logs FOLDER: prints the log of every test program with a failure.
failing_logs()
{
    find "$1" -name '*.trs' -exec grep -lE '^:test-result: (FAIL|ERROR|XPASS)' {} + | sort |
        while read -r result; do
            say "log of ${result%.trs}"
            cat "${result%.trs}.log"
        done
}

# failing_tests FOLDER: a line for each test that failed, with the few that say where, and each test
# program that ended early.
failing_tests()
{
    { find "$1" -name '*.trs' -exec grep -lE '^:test-result: (FAIL|ERROR|XPASS)' {} + || true; } | sort |
        while read -r result; do
            awk '/^(FAIL|ERROR|XPASS): / { print; found = 1; more = 4; next }
                /^#/ && more-- > 0 { print "    " $0; next }
                { more = 0 }
                END { exit !found }' "${result%.trs}.log" || echo "FAIL: ${result%.trs}"
        done
}

# Prints the counts on a line of their own.
print_counts()
{
    if [ "$skipped" -gt 0 ]; then
        echo "$passed passed, $failed failed, $skipped skipped"
    else
        echo "$passed passed, $failed failed"
    fi
}
