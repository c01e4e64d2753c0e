/* How often annotators are right, when nobody knows the truth: labels of invented items by three of
 * them, and a private fit in which each item's true class is summed out.  With any argument the run
 * is repeatable, and not private. */
#include <stdio.h>
#include <tacit/tacit.h>
enum { N = 4000, J = 3, K = 3 };
static int32_t label[J][N];

/* The truth is class 0 or 1 with chances 0.5 and 0.3; annotator j errs with chance 0.1 + 0.1 j. */
static int draw_labels(dp_error *err)
{
    static double u[N][1 + J];
    dp_rng *rng;
    if (dp_rng_new(7, &rng, err))
        return 1;
    dp_rng_uniform(rng, sizeof u / sizeof **u, *u);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < J; j++) {
            const int truth = (u[i][0] > 0.5) + (u[i][0] > 0.8);
            label[j][i] = (truth + (u[i][1 + j] < 0.1 + 0.1 * j) * (1 + i % 2)) % K;
        }
    return dp_rng_free(rng), 0;
}

int main(int argc, char **argv)
{
    static const char *const columns[J] = {"label0", "label1", "label2"};
    static const char *const latents[J] = {"confusion0", "confusion1", "confusion2"};
    const dp_dawid_skene_opts three = {.classes = K, .annotators = J};
    dp_fit_opts o = {.epsilon = 1, .delta = 1e-6, .seed = argv[0] && argc > 1};
    dp_error err = {0};
    dp_model *m;
    dp_fit *fit;
    dp_summary s[K][K];
    dp_privacy spent;
    dp_dataset *data = dp_dataset_new(N);
    if (draw_labels(&err))
        return fprintf(stderr, "%s\n", err.text), 1;
    for (int j = 0; j < J; j++)
        dp_dataset_index(data, columns[j], label[j]);
    if (dp_dawid_skene(&three, &m, &err) || dp_fit_private(m, data, &o, &fit, &err))
        return fprintf(stderr, "%s\n", err.text), 1;
    for (int j = 0; j < J; j++) {
        if (dp_fit_summary(fit, latents[j], K * K, *s, &err))
            return fprintf(stderr, "%s\n", err.text), 1;
        printf("annotator %d is right of class", j);
        for (int k = 0; k < K; k++)
            printf("  %d: %.2f", k, s[k][k].mean);
        puts("");
    }
    dp_fit_privacy(fit, &spent);
    printf("epsilon %.3f at delta %g\n", spent.epsilon, spent.delta);
    dp_fit_free(fit), dp_dataset_free(data), dp_model_free(m);
    return 0;
}
