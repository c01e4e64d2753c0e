# The regression of one table with all columns, by its normal equations: what two owners of columns must come to without noise.
#   awk -F, -f central.awk -v outcome=NAME -v centre=C -v scale=S -v columns='NAME:C:S ...' -v ridge=R [-v logistic=1 [-v exact=1]] TABLE
# Columns are numbers, moved by C and divided by S; the intercept is a column of ones, and stands with the ridge as the others do.  With
# logistic the outcome is 0 or 1 and the loss the second order of the logistic one around 0, or with exact that itself, by
# Newton's steps.  Prints names, coefficients in the
# table's scale, and what a step of 1 in a scaled coefficient is there.
BEGIN { n = 0 }
NR == 1 {
    for (j = 1; j <= NF; j++) place[$j] = j
    d = split(columns, spec, " ")
    for (k = 1; k <= d; k++) { split(spec[k], part, ":"); name[k] = part[1]; c[k] = part[2]; s[k] = part[3] }
    name[0] = "(Intercept)"
    next
}
{
    x[0] = 1
    for (k = 1; k <= d; k++) x[k] = ($(place[name[k]]) - c[k]) / s[k]
    y = logistic ? 2 * (2 * $(place[outcome]) - 1) : ($(place[outcome]) - centre) / scale
    for (k = 0; k <= d; k++) {
        b[k] += x[k] * y
        for (l = 0; l <= d; l++) a[k, l] += x[k] * x[l]
        row[n, k] = x[k]
    }
    told[n] = $(place[outcome])
    n++
}
# b = a^-1 b
function solve(    i, k, l, f) {
    for (k = 0; k <= d; k++)
        for (i = k + 1; i <= d; i++) {
            f = a[i, k] / a[k, k]
            for (l = k; l <= d; l++) a[i, l] -= f * a[k, l]
            b[i] -= f * b[k]
        }
    for (k = d; k >= 0; k--) {
        for (l = k + 1; l <= d; l++) b[k] -= a[k, l] * b[l]
        b[k] /= a[k, k]
    }
}
# One of Newton's steps from w.
function step(    i, k, l, u, p) {
    for (k = 0; k <= d; k++) {
        b[k] = -ridge * w[k]
        for (l = 0; l <= d; l++) a[k, l] = (k == l) * ridge
    }
    for (i = 0; i < n; i++) {
        u = 0
        for (k = 0; k <= d; k++) u += row[i, k] * w[k]
        p = 1 / (1 + exp(-u))
        for (k = 0; k <= d; k++) {
            b[k] += row[i, k] * (told[i] - p) / n
            for (l = 0; l <= d; l++) a[k, l] += row[i, k] * row[i, l] * p * (1 - p) / n
        }
    }
    solve()
    for (k = 0; k <= d; k++) w[k] += b[k]
}
END {
    by = logistic ? 4 : 1
    for (k = 0; k <= d; k++) {
        b[k] /= n * by
        for (l = 0; l <= d; l++) a[k, l] = a[k, l] / (n * by) + (k == l) * ridge
    }
    solve()
    for (i = 0; exact && i < 12; i++) step()
    for (k = 0; exact && k <= d; k++) b[k] = w[k]
    if (logistic) { scale = 1; centre = 0 }
    intercept = centre + scale * b[0]
    for (k = 1; k <= d; k++) {
        moved = c[k] / s[k]
        intercept -= scale * b[k] * moved
        unit += scale * (moved < 0 ? -moved : moved)
        printf "%s %.12g %.12g\n", name[k], scale * b[k] / s[k], scale / s[k]
    }
    printf "%s %.12g %.12g\n", name[0], intercept, scale + unit
}
