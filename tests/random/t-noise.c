#include "random/noise.h"

#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/random/chi.h"
#include "tests/random/wraps.h"

enum { WIDTH = 8 };

static dp_noise *new_noise(void)
{
    dp_noise *noise;
    dp_error err = {0};
    assert_ok(dp_noise_new(&noise, &err), err.text);
    return noise;
}

static dp_noise *new_seeded(uint64_t seed)
{
    dp_noise *noise;
    dp_error err = {0};
    assert_ok(dp_noise_new_seeded(seed, &noise, &err), err.text);
    return noise;
}

static void only_sources_of_the_system_are_private(void **state)
{
    (void)state;
    dp_noise *noise = new_noise(), *seeded = new_seeded(1);
    assert_true(dp_noise_is_private(noise));
    assert_false(dp_noise_is_private(seeded));
    dp_noise_free(noise);
    dp_noise_free(seeded);
    dp_noise_free(NULL);
}

static void sources_differ_and_seeds_repeat(void **state)
{
    (void)state;
    double x[5][WIDTH];
    dp_noise *noise[] = {new_noise(), new_noise(), new_seeded(1), new_seeded(1), new_seeded(2)};
    for (int i = 0; i < 5; i++) {
        assert_ok(dp_noise_normal(noise[i], WIDTH, 2.385, x[i], NULL), NULL);
        dp_noise_free(noise[i]);
        for (int j = 0; j < i; j++)
            assert_int_equal(memcmp(x[i], x[j], sizeof x[i]) == 0, i == 3 && j == 2);
    }
}

/* A seed of noise has nothing to do with the same seed of a dp_rng. */
static void seeded_noise_is_not_the_reproducible_source(void **state)
{
    (void)state;
    double x = 0, y = 0;
    dp_rng *rng;
    dp_noise *noise = new_seeded(5);
    assert_ok(dp_rng_new(5, &rng, NULL), NULL);
    assert_ok(dp_noise_normal(noise, 1, 1, &x, NULL), NULL);
    dp_rng_normal(rng, 1, &y);
    assert_true(x != y);
    dp_rng_free(rng);
    dp_noise_free(noise);
}

static void noise_has_the_deviation_asked_for(void **state)
{
    (void)state;
    enum { N = 100000 };
    static double x[N];
    dp_noise *noise = new_seeded(6);
    double sum = 0, squares = 0;
    assert_ok(dp_noise_normal(noise, N, 2.385, x, NULL), NULL);
    for (int i = 0; i < N; i++) {
        sum += x[i] / 2.385;
        squares += x[i] * x[i] / (2.385 * 2.385) - 1;
    }
    assert_standard(sum / sqrt(N));
    assert_standard(squares / sqrt(2.0 * N));
    dp_noise_free(noise);
}

static void bad_deviations_give_nan(void **state)
{
    (void)state;
    const double bad[] = {0, -1, NAN, INFINITY};
    dp_noise *noise = new_noise();
    for (int i = 0; i < 4; i++) {
        double x[3] = {1, 2, 3};
        dp_error err = {0};
        assert_int_equal(dp_noise_normal(noise, 3, bad[i], x, &err), DP_EDOMAIN);
        assert_contains(err.text, "standard deviation");
        assert_true(isnan(x[0]) && isnan(x[1]) && isnan(x[2]));
    }
    dp_noise_free(noise);
}

/* What parent and child draw next from the same source. */
static void draw_in_both(dp_noise *noise, double parent[WIDTH], double child[WIDTH])
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        double x[WIDTH];
        int bad = dp_noise_normal(noise, WIDTH, 1, x, NULL) != DP_OK ||
                  write(ends[1], x, sizeof x) != (ssize_t)sizeof x;
        dp_noise_free(noise);
        _exit(bad);
    }
    int how;
    assert_int_equal(waitpid(pid, &how, 0), pid);
    assert_int_equal(how, 0);
    assert_int_equal(read(ends[0], child, WIDTH * sizeof *child), WIDTH * sizeof *child);
    (void)close(ends[0]);
    (void)close(ends[1]);
    assert_ok(dp_noise_normal(noise, WIDTH, 1, parent, NULL), NULL);
}

static void a_forked_child_draws_other_noise(void **state)
{
    (void)state;
    double parent[WIDTH], child[WIDTH], second[WIDTH];
    for (int without_wipe = 0; without_wipe < 2; without_wipe++) {
        fail_madvise = without_wipe;
        dp_noise *noise = new_noise();
        fail_madvise = false;
        assert_ok(dp_noise_normal(noise, 1, 1, parent, NULL), NULL);
        draw_in_both(noise, parent, child);
        draw_in_both(noise, parent, second);
        for (int i = 0; i < WIDTH; i++)
            assert_true(parent[i] != child[i] && child[i] != second[i] && parent[i] != second[i]);
        dp_noise_free(noise);
    }
    dp_noise *seeded = new_seeded(9);
    draw_in_both(seeded, parent, child);
    assert_memory_equal(parent, child, sizeof parent);
    dp_noise_free(seeded);
}

static void without_entropy_a_forked_child_gets_nan(void **state)
{
    (void)state;
    dp_noise *noise = new_noise();
    pid_t pid = fork();
    if (pid == 0) {
        double x = 1, y = 1;
        dp_error err = {0};
        fail_entropy = 1;
        int first = dp_noise_normal(noise, 1, 1, &x, &err) == DP_EENTROPY && isnan(x);
        int later = dp_noise_normal(noise, 1, 1, &y, NULL) == DP_OK && isfinite(y);
        dp_noise_free(noise);
        _exit(first && later ? 0 : 1);
    }
    int how;
    assert_int_equal(waitpid(pid, &how, 0), pid);
    assert_int_equal(how, 0);
    dp_noise_free(noise);
}

/* The same key gives the same, however many are asked for; another others, of the same law. */
static void shares_of_a_key_are_made_again(void **state)
{
    enum { N = 20000 };
    static int64_t k[3][N];
    unsigned char key[DP_NOISE_KEY] = {3};
    dp_error err = {0};
    double sum = 0, squares = 0, product = 0;
    (void)state;
    assert_ok(dp_noise_shares_from(key, N, k[0], &err), err.text);
    assert_ok(dp_noise_shares_from(key, N / 3, k[1], &err), err.text);
    assert_memory_equal(k[0], k[1], N / 3 * sizeof k[0][0]);
    key[31] ^= 128;
    assert_ok(dp_noise_shares_from(key, N, k[2], &err), err.text);
    for (size_t i = 0; i < N; i++) {
        const double z = (double)k[0][i] * 0x1p-32;
        sum += z;
        squares += z * z;
        product += z * ((double)k[2][i] * 0x1p-32);
    }
    assert_standard(sum / sqrt(N));
    assert_standard((squares - N) / sqrt(2.0 * N));
    assert_standard(product / sqrt(N));
}

/* Normal numbers times 2^32, rounded: none of the law of whole numbers of another scale. */
static void shares_are_normal_times_2_32(void **state)
{
    enum { N = 20000 };
    static int64_t k[N];
    (void)state;
    dp_noise *noise = new_noise();
    dp_error err = {0};
    double sum = 0, squares = 0;
    size_t odd = 0;
    assert_ok(dp_noise_shares(noise, N, k, &err), err.text);
    for (size_t i = 0; i < N; i++) {
        const double z = (double)k[i] * 0x1p-32;
        sum += z;
        squares += z * z;
        odd += (size_t)(k[i] & 1);
    }
    assert_standard(sum / sqrt(N));
    assert_standard((squares - N) / sqrt(2.0 * N));
    assert_standard(((double)odd - N / 2) / sqrt(N / 4.0));
    pid_t pid = fork();
    if (pid == 0) {
        fail_entropy = 1;
        int first = dp_noise_shares(noise, 1, k, &err) == DP_EENTROPY && k[0] == INT64_MIN;
        dp_noise_free(noise);
        _exit(first ? 0 : 1);
    }
    int how;
    assert_int_equal(waitpid(pid, &how, 0), pid);
    assert_int_equal(how, 0);
    dp_noise_free(noise);
}

static void read_stream(void *stream)
{
    (void)dpi_stream_u64(stream);
}

/* Only where the kernel wipes the pages; otherwise it is up to the caller, as noise.h says. */
static void a_stream_kept_across_a_fork_aborts(void **state)
{
#ifdef __linux__
    (void)state;
    dp_noise *noise = new_noise();
    dpi_stream *stream;
    assert_ok(dpi_noise_stream(noise, &stream, NULL), NULL);
    (void)dpi_stream_u64(stream);
    assert_aborts(read_stream, stream); /* in a child of fork */
    dp_noise_free(noise);
#else
    (void)state;
    skip();
#endif
}

/* The block that holds the stream is looked at when it is handed to free. */
static const unsigned char *watched;
static bool was_clean;
void __real_free(void *block);
void __wrap_free(void *block);

void __wrap_free(void *block)
{
    const unsigned char *start = block;
    if (watched != NULL && start <= watched && watched < start + 65536) {
        was_clean = true;
        for (size_t i = 0; i < sizeof(dpi_stream); i++)
            was_clean = was_clean && watched[i] == 0;
        watched = NULL;
    }
    __real_free(block);
}

static void freeing_wipes_key_and_numbers(void **state)
{
    (void)state;
    for (int seeded = 0; seeded < 2; seeded++) {
        dp_noise *noise = seeded ? new_seeded(3) : new_noise();
        dpi_stream *stream;
        double x;
        assert_ok(dp_noise_normal(noise, 1, 1, &x, NULL), NULL);
        assert_ok(dpi_noise_stream(noise, &stream, NULL), NULL);
        was_clean = false;
        watched = (const unsigned char *)stream;
        dp_noise_free(noise);
        assert_null(watched);
        assert_true(was_clean);
    }
}

static void a_system_that_fails_is_an_error(void **state)
{
    (void)state;
    for (int seeded = 0; seeded < 2; seeded++) {
        for (int k = 1; k <= 2; k++) {
            dp_noise *noise = (dp_noise *)(void *)1;
            dp_error err = {0};
            fail_allocation = k;
            assert_int_equal(seeded ? dp_noise_new_seeded(1, &noise, &err)
                                    : dp_noise_new(&noise, &err),
                             DP_ENOMEM);
            assert_null(noise);
        }
        fail_allocation = 0;
        for (int k = 1; k <= 2 - seeded; k++) {
            dp_noise *noise = (dp_noise *)(void *)1;
            dp_error err = {0};
            fail_entropy = k;
            assert_int_equal(seeded ? dp_noise_new_seeded(1, &noise, &err)
                                    : dp_noise_new(&noise, &err),
                             DP_EENTROPY);
            assert_contains(err.text, "getentropy");
            assert_null(noise);
        }
        fail_entropy = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_sources_of_the_system_are_private),
        cmocka_unit_test(sources_differ_and_seeds_repeat),
        cmocka_unit_test(seeded_noise_is_not_the_reproducible_source),
        cmocka_unit_test(noise_has_the_deviation_asked_for),
        cmocka_unit_test(bad_deviations_give_nan),
        cmocka_unit_test(a_forked_child_draws_other_noise),
        cmocka_unit_test(without_entropy_a_forked_child_gets_nan),
        cmocka_unit_test(shares_are_normal_times_2_32),
        cmocka_unit_test(shares_of_a_key_are_made_again),
        cmocka_unit_test(a_stream_kept_across_a_fork_aborts),
        cmocka_unit_test(freeing_wipes_key_and_numbers),
        cmocka_unit_test(a_system_that_fails_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
