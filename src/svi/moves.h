/* How parameters move, compiled once for each type of what is remembered of them (optimizer.c).
 *
 * The file that includes it defines MOVE_NUMBER (the type), MOVE_STATE (the member of a slice that
 * points to such numbers), MOVE_MOST (the greatest of them), MOVE_ROOT (of a square) and MOVE_NAME(x),
 * the function x of that type. */

static const MOVE_NUMBER MOVE_NAME(least_root) = (MOVE_NUMBER)1e-8;

/* o->size holds the correction of the mean. */
DPI_LOOPS static void MOVE_NAME(adam)(const dpi_optimizer *o, const dpi_slice *p)
{
    const MOVE_NUMBER b1 = (MOVE_NUMBER)o->momentum, b2 = (MOVE_NUMBER)o->beta2;
    const MOVE_NUMBER rest1 = (MOVE_NUMBER)(1 - o->momentum), rest2 = (MOVE_NUMBER)(1 - o->beta2);
    const MOVE_NUMBER size = (MOVE_NUMBER)o->size, correct = (MOVE_NUMBER)o->correct;
    const double *gradient = p->gradient;
    MOVE_NUMBER *restrict first = p->MOVE_STATE[0], *restrict second = p->MOVE_STATE[1];
    double *restrict theta = p->theta;
    for (size_t i = 0; i < p->n; i++) {
        MOVE_NUMBER g = (MOVE_NUMBER)gradient[i];
        MOVE_NUMBER mean = b1 * first[i] + rest1 * g, square = b2 * second[i] + rest2 * g * g;
        MOVE_NUMBER root = MOVE_ROOT(square * correct);
        first[i] = mean;
        second[i] = square;
        /* Where squares overflow Adam would stand still for ever, without a word. */
        theta[i] +=
            root <= MOVE_MOST ? size * mean / (root + MOVE_NAME(least_root)) : (MOVE_NUMBER)NAN;
    }
}

static void MOVE_NAME(momentum)(const dpi_optimizer *o, const dpi_slice *p)
{
    const MOVE_NUMBER keep = (MOVE_NUMBER)o->momentum, size = (MOVE_NUMBER)o->size;
    MOVE_NUMBER *momentum = p->MOVE_STATE[0];
    for (size_t i = 0; i < p->n; i++) {
        momentum[i] = keep * momentum[i] + (MOVE_NUMBER)p->gradient[i];
        p->theta[i] += size * momentum[i];
    }
}

DPI_LOOPS static void MOVE_NAME(adagrad)(const dpi_optimizer *o, const dpi_slice *p)
{
    const MOVE_NUMBER size = (MOVE_NUMBER)o->size;
    const double *gradient = p->gradient;
    MOVE_NUMBER *restrict sum = p->MOVE_STATE[0];
    double *restrict theta = p->theta;
    for (size_t i = 0; i < p->n; i++) {
        MOVE_NUMBER g = (MOVE_NUMBER)gradient[i], square = sum[i] + g * g, root = MOVE_ROOT(square);
        sum[i] = square;
        theta[i] += root <= MOVE_MOST ? size * g / (root + MOVE_NAME(least_root))
                                      : (MOVE_NUMBER)NAN; /* as above */
    }
}

#undef MOVE_NUMBER
#undef MOVE_STATE
#undef MOVE_MOST
#undef MOVE_ROOT
#undef MOVE_NAME
