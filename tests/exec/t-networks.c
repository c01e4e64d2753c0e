/* Norms, clip factors and clipped sums of random networks, from factors and from gradients that are
 * made: in double precision to 1e-12 and in single to 1e-5, relative. */
#include <math.h>
#include <string.h>

#include "tests/exec/network.h"
#include "tests/lib/check.h"

enum { NETWORKS = 1200 };

typedef struct result {
    double norm[RECORDS], factor[RECORDS], sum[MOST_RELEASE];
} result;

static void compute(const network *n, dpi_choice choice, bool single, double clip, result *out)
{
    double scratch[2 * RECORDS];
    dpi_run *run = network_run(n, choice, single, 0);
    memset(out->sum, 0, sizeof out->sum);
    dpi_run_clip_sum(run, RECORDS, clip, scratch, out->sum);
    for (size_t r = 0; r < RECORDS; r++) {
        out->norm[r] = sqrt(scratch[r]);
        out->factor[r] = scratch[RECORDS + r];
    }
    dpi_run_free(run);
}

static double distance(size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

static void compare(const network *n, dpi_choice choice, bool single)
{
    static const double none[MOST_RELEASE];
    static result made, factored;
    double tolerance = single ? 1e-5 : 1e-12, clip;
    compute(n, DPI_ALWAYS_MADE, single, INFINITY, &made);
    clip = made.norm[2]; /* some are above and some below */
    compute(n, DPI_ALWAYS_MADE, single, clip, &made);
    compute(n, choice, single, clip, &factored);
    for (size_t r = 0; r < RECORDS; r++) {
        assert_true(isfinite(made.norm[r]) && made.norm[r] > 0);
        assert_close(factored.norm[r], made.norm[r], tolerance, 0);
        assert_close(factored.factor[r], made.factor[r], tolerance, 0);
    }
    double off = distance(n->release, made.sum, factored.sum);
    assert_close(off, 0, 0, tolerance * distance(n->release, made.sum, none));
}

static void factors_give_what_gradients_give(void **state)
{
    (void)state;
    static const dpi_choice choices[] = {DPI_CHEAPEST, DPI_ALWAYS_PRODUCTS, DPI_ALWAYS_ONE_BY_ONE};
    size_t convolutions = 0, gathers = 0, shared = 0;
    for (size_t i = 0; i < NETWORKS; i++) {
        network n;
        network_new(&n, i);
        for (int k = 0; k < 3; k++)
            for (int single = 0; single < 2; single++)
                compare(&n, choices[k], single);
        convolutions += n.convolutions > 0;
        gathers += n.gathers > 0;
        shared += n.shared > 0;
        network_free(&n);
    }
    assert_true(convolutions > NETWORKS / 2 && gathers > NETWORKS / 2 && shared > NETWORKS / 2);
}

/* The decompositions that occur: every kind of term, alone and with others, and parts that are no
 * such sums. */
static void all_kinds_of_terms_occur(void **state)
{
    (void)state;
    size_t seen[4][2] = {{0}}, mixed = 0, negative = 0, other = 0, turned = 0;
    for (size_t i = 0; i < NETWORKS; i++) {
        network n;
        network_new(&n, i);
        for (size_t k = 0; k < n.n_parts; k++) {
            dpi_decomposition d;
            size_t picked = 0;
            dpi_decompose(&n.g, n.part[k], DPI_ALWAYS_PRODUCTS, &d);
            other += d.n_terms == 0;
            for (size_t t = 0; t < d.n_terms; t++) {
                const dpi_node *node = dpi_get(&n.g, d.term[t].node);
                int kind = d.term[t].picked            ? 0 + (d.term[t].rank > 1)
                           : node->op == &dpi_op_outer ? 2
                                                       : 3;
                seen[kind][d.n_terms > 1]++;
                picked += d.term[t].picked;
                negative += d.term[t].sign < 0;
                turned += node->op == &dpi_op_matmul && !node->attr.transpose[0];
            }
            mixed += picked > 0 && picked < d.n_terms;
        }
        network_free(&n);
    }
    for (int kind = 0; kind < 4; kind++)
        assert_true(seen[kind][0] > 100 && seen[kind][1] > 100);
    assert_true(mixed > 100 && negative > 100 && other > 100 && turned > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_give_what_gradients_give),
        cmocka_unit_test(all_kinds_of_terms_occur),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
