#!/usr/bin/env Rscript
# Coefficients of formulas by R's own packages, written to reference.csv.
#
#   Rscript reference.R DATA simulated.csv > reference.csv
#
# DATA is the folder with bangladesh/, radon/ and so on; the table simulated.csv is written, from a
# generator of its own, so that R's version does not matter.  Debian 12's packages r-base-core,
# r-cran-lme4, r-cran-mass, r-cran-survival, r-cran-ordinal, r-cran-nnet, r-cran-glmmtmb.
#
# A line is one number: case, data, family, formula (in the language of brms), term, estimate,
# standard error.  Terms are named as in brms: b_ and R's name of the coefficient, sd_<group>__<term>,
# cor_<group>__<term>__<term>, sigma, shape.  Standard errors of scales are not given by all packages:
# then there is none, and the number is for reading only.
suppressMessages({
    library(lme4); library(MASS); library(survival); library(ordinal); library(nnet); library(glmmTMB)
})
arguments <- commandArgs(trailingOnly = TRUE)
data <- arguments[1]

# ---- tables ----

contraception <- read.csv(file.path(data, "bangladesh/Contraception.csv"))
contraception$y <- as.integer(contraception$use == "Y")
contraception$livch <- factor(contraception$livch, levels = c("0", "1", "2", "3+"))
contraception$urban <- factor(contraception$urban, levels = c("N", "Y"))
contraception$district <- factor(contraception$district)
radon <- read.csv(file.path(data, "radon/mn_radon.csv"), strip.white = TRUE)
radon$county <- factor(radon$county_id)
wdbc <- read.csv(file.path(data, "wdbc/wdbc.csv"))
heart <- read.csv(file.path(data, "heart/heart.csv"))
iris_ <- read.csv(file.path(data, "iris/iris.csv"))
iris_$species <- factor(iris_$species, levels = c("setosa", "versicolor", "virginica"))
faithful_ <- read.csv(file.path(data, "faithful/faithful.csv"))
cardio <- read.csv(gzfile(file.path(data, "cardio/cardio_train.csv.gz")), sep = ";")
pima <- read.csv(file.path(data, "pima/pima-indians-diabetes.csv"), header = FALSE,
                 col.names = c("pregnancies", "glucose", "pressure", "skin", "insulin", "bmi",
                               "pedigree", "age", "outcome"))
adult <- read.csv(gzfile(file.path(data, "adult/adult.data.gz")), header = FALSE, strip.white = TRUE,
                  col.names = c("age", "workclass", "fnlwgt", "education", "education_num",
                                "marital", "occupation", "relationship", "race", "sex", "gain",
                                "loss", "hours", "country", "income"))
adult$y <- as.integer(adult$income == ">50K")
adult$sex <- factor(adult$sex, levels = c("Female", "Male"))
adult$race <- factor(adult$race, levels = c("Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black",
                                            "Other", "White"))

# Uniform numbers of a linear congruential generator (x' = 69069 x + 1 modulo 2^32, Marsaglia 1972).
state <- 20101
uniform <- function(n) {
    out <- numeric(n)
    for (i in 1:n) {
        state <<- (69069 * state + 1) %% 2^32
        out[i] <- (state + 0.5) / 2^32
    }
    out
}
n <- 800
s <- data.frame(x = round(2 * uniform(n) - 1, 4), z = round(qnorm(uniform(n)), 4))
s$z <- pmax(pmin(s$z, 3), -3)
s$g <- rep(1:20, each = 40)
s$h <- rep(1:4, times = 200)
s$f <- c("a", "b", "c")[1 + floor(3 * uniform(n))]
effect_g <- 0.6 * qnorm(uniform(20)); effect_gh <- 0.4 * qnorm(uniform(80)); effect_h <- 0.5 * qnorm(uniform(4))
slope_g <- 0.3 * qnorm(uniform(20))
eta <- 0.5 + 0.8 * s$x - 0.4 * s$z + c(a = 0, b = 0.5, c = -0.5)[s$f]
nested <- effect_g[s$g] + effect_gh[4 * (s$g - 1) + s$h]
s$normal <- round(eta + nested + 0.7 * qnorm(uniform(n)), 4)
s$crossed <- round(eta + effect_g[s$g] + slope_g[s$g] * s$x + effect_h[s$h] + 0.7 * qnorm(uniform(n)), 4)
s$trials <- 1 + floor(10 * uniform(n))
s$successes <- qbinom(uniform(n), s$trials, plogis(eta))
s$count <- qnbinom(uniform(n), size = 1.5, mu = exp(eta))
s$zeros <- ifelse(uniform(n) < 0.3, 0, qpois(uniform(n), exp(eta)))
s$exposure <- round(0.5 + 2 * uniform(n), 4)
s$events <- qpois(uniform(n), s$exposure * exp(eta))
s$positive <- round(qgamma(uniform(n), shape = 3, rate = 3 / exp(eta)), 5) + 1e-5
s$share <- pmin(pmax(round(qbeta(uniform(n), 5 * plogis(eta), 5 * plogis(-eta)), 5), 1e-4), 1 - 1e-4)
time <- qweibull(uniform(n), shape = 1.7, scale = exp(eta)); end <- 0.5 + 3 * uniform(n)
s$time <- round(pmin(time, end), 5) + 1e-5
s$censored <- as.integer(time > end)
s$grade <- findInterval(0.8 * s$x - 0.4 * s$z + effect_g[s$g] + qlogis(uniform(n)), c(-1, 0, 1.2)) + 1
s$weight <- 1 + floor(3 * uniform(n))
s$spread <- round(eta + exp(-0.5 + 0.6 * s$x) * qnorm(uniform(n)), 4)
write.csv(s, arguments[2], row.names = FALSE, quote = FALSE)
s$g <- factor(s$g); s$h <- factor(s$h); s$f <- factor(s$f)

# ---- output ----

cat("case,data,family,formula,term,estimate,se\n")
case <- 0
begin <- function(data, family, formula) {
    case <<- case + 1
    now <<- sprintf("%d,%s,%s,\"%s\"", case, data, family, formula)
}
line <- function(term, estimate, se = NA)
    cat(sprintf("%s,\"%s\",%.10g,%s\n", now, term, estimate, if (is.na(se)) "" else sprintf("%.6g", se)))
b <- function(name) paste0("b_", sub("^\\(Intercept\\)$", "Intercept", name))
coefficients_of <- function(table, prefix = "b_")
    for (k in rownames(table))
        line(paste0(prefix, sub("^\\(Intercept\\)$", "Intercept", k)), table[k, 1], table[k, 2])
groups_of <- function(fit) {
    v <- as.data.frame(VarCorr(fit))
    for (i in seq_len(nrow(v))) {
        r <- v[i, ]
        group <- sub("\\.[0-9]+$", "", r$grp)
        name <- function(x) sub("^\\(Intercept\\)$", "Intercept", x)
        if (r$grp == "Residual") line("sigma", r$sdcor)
        else if (is.na(r$var2)) line(sprintf("sd_%s__%s", group, name(r$var1)), r$sdcor)
        else line(sprintf("cor_%s__%s__%s", group, name(r$var1), name(r$var2)), r$sdcor)
    }
}
linear <- function(data, formula, fit) {
    begin(data, "gaussian", formula)
    coefficients_of(coef(summary(fit)))
    sigma <- summary(fit)$sigma
    line("sigma", sigma, sigma / sqrt(2 * fit$df.residual))
}
generalised <- function(data, family, formula, fit) {
    begin(data, family, formula)
    coefficients_of(coef(summary(fit)))
}
mixed <- function(data, family, formula, fit) {
    begin(data, family, formula)
    coefficients_of(coef(summary(fit)))
    groups_of(fit)
}

# ---- cases ----

generalised("contraception", "bernoulli", "y ~ age", glm(y ~ age, binomial, contraception))
generalised("contraception", "bernoulli", "y ~ age + urban + livch",
            glm(y ~ age + urban + livch, binomial, contraception))
generalised("contraception", "bernoulli", "y ~ age * urban", glm(y ~ age * urban, binomial, contraception))
generalised("contraception", "bernoulli", "y ~ age + I(age^2) + urban",
            glm(y ~ age + I(age^2) + urban, binomial, contraception))
generalised("contraception", "bernoulli(probit)", "y ~ age + urban + livch",
            glm(y ~ age + urban + livch, binomial("probit"), contraception))
mixed("contraception", "bernoulli", "y ~ age + urban + livch + (1 | district)",
      glmer(y ~ age + urban + livch + (1 | district), contraception, binomial, nAGQ = 15))
mixed("contraception", "bernoulli", "y ~ age + urban + (1 + urban | district)",
      glmer(y ~ age + urban + (1 + urban | district), contraception, binomial))
linear("radon", "log_radon ~ floor", lm(log_radon ~ floor, radon))
linear("radon", "log_radon ~ floor * log_uranium", lm(log_radon ~ floor * log_uranium, radon))
mixed("radon", "gaussian", "log_radon ~ floor + (1 | county)", lmer(log_radon ~ floor + (1 | county), radon))
mixed("radon", "gaussian", "log_radon ~ floor + log_uranium + (1 | county)",
      lmer(log_radon ~ floor + log_uranium + (1 | county), radon))
mixed("radon", "gaussian", "log_radon ~ floor + (1 + floor | county)",
      lmer(log_radon ~ floor + (1 + floor | county), radon))
mixed("radon", "gaussian", "log_radon ~ floor + (floor || county)",
      lmer(log_radon ~ floor + (floor || county), radon))
linear("faithful", "waiting ~ eruptions", lm(waiting ~ eruptions, faithful_))
linear("faithful", "waiting ~ eruptions + I(eruptions^2)", lm(waiting ~ eruptions + I(eruptions^2), faithful_))
linear("iris", "petal_length ~ sepal_length + species", lm(petal_length ~ sepal_length + species, iris_))
linear("iris", "petal_length ~ sepal_length * species", lm(petal_length ~ sepal_length * species, iris_))
linear("iris", "petal_length ~ 0 + species + sepal_width", lm(petal_length ~ 0 + species + sepal_width, iris_))

linear("iris", "petal_length ~ C(species, sum) + sepal_length",
       lm(petal_length ~ C(species, sum) + sepal_length, iris_))
generalised("wdbc", "bernoulli", "target ~ mean_radius + mean_texture",
            glm(target ~ mean_radius + mean_texture, binomial, wdbc))
generalised("heart", "poisson", "ca ~ age + sex", glm(ca ~ age + sex, poisson, heart))
begin("heart", "categorical", "cp ~ age + sex")
fit <- multinom(cp ~ age + sex, heart, trace = FALSE, maxit = 1000, reltol = 1e-14)
for (k in rownames(coef(fit)))
    for (v in colnames(coef(fit)))
        line(sprintf("b_mu%s_%s", k, sub("^\\(Intercept\\)$", "Intercept", v)), coef(fit)[k, v],
             summary(fit)$standard.errors[k, v])
generalised("cardio", "bernoulli", "cardio ~ age + factor(gender) + factor(cholesterol) + weight",
            glm(cardio ~ age + factor(gender) + factor(cholesterol) + weight, binomial, cardio))
generalised("adult", "bernoulli", "y ~ age + I(age^2) + sex + education_num + hours + race",
            glm(y ~ age + I(age^2) + sex + education_num + hours + race, binomial, adult))
generalised("pima", "poisson", "pregnancies ~ bmi + offset(log(age))",
            glm(pregnancies ~ bmi + offset(log(age)), poisson, pima))
begin("pima", "negbinomial", "pregnancies ~ bmi + age")
fit <- glm.nb(pregnancies ~ bmi + age, pima)
coefficients_of(coef(summary(fit)))
line("shape", fit$theta, fit$SE.theta)
mixed("simulated", "gaussian", "normal ~ x + z + f + (1 | g/h)", lmer(normal ~ x + z + f + (1 | g/h), s))
mixed("simulated", "gaussian", "crossed ~ x + z + f + (1 + x || g) + (1 | h)",
      lmer(crossed ~ x + z + f + (1 + x || g) + (1 | h), s))
generalised("simulated", "binomial", "successes | trials(trials) ~ x + z + f",
            glm(cbind(successes, trials - successes) ~ x + z + f, binomial, s))
begin("simulated", "negbinomial", "count ~ x + z + f")
fit <- glm.nb(count ~ x + z + f, s)
coefficients_of(coef(summary(fit)))
line("shape", fit$theta, fit$SE.theta)
generalised("simulated", "poisson", "events ~ x:f + z + offset(log(exposure))",
            glm(events ~ x:f + z + offset(log(exposure)), poisson, s))
begin("simulated", "zero_inflated_poisson", "zeros ~ x + z + f")
fit <- glmmTMB(zeros ~ x + z + f, ziformula = ~1, family = poisson, s)
coefficients_of(coef(summary(fit))$cond)
zeros <- coef(summary(fit))$zi[1, ] # a logit
line("zi", plogis(zeros[1]), dlogis(zeros[1]) * zeros[2])
begin("simulated", "gamma(log)", "positive ~ x + z + f")
fit <- glm(positive ~ x + z + f, Gamma("log"), s)
shape <- gamma.shape(fit)
coefficients_of(coef(summary(fit, dispersion = 1 / shape$alpha)))
line("shape", shape$alpha, shape$SE)
begin("simulated", "beta", "share ~ x + z + f")
fit <- glmmTMB(share ~ x + z + f, family = beta_family(), s)
coefficients_of(coef(summary(fit))$cond)
line("phi", sigma(fit))
for (law in c("weibull", "exponential", "lognormal")) {
    begin("simulated", law, "time | cens(censored) ~ x + z + f")
    fit <- survreg(Surv(time, 1 - censored) ~ x + z + f, s, dist = law)
    table <- summary(fit)$table
    coefficients_of(table[rownames(table) != "Log(scale)", ])
    if (law == "weibull") line("shape", exp(-table["Log(scale)", 1]), exp(-table["Log(scale)", 1]) * table["Log(scale)", 2])
    if (law == "lognormal") line("sigma", exp(table["Log(scale)", 1]), exp(table["Log(scale)", 1]) * table["Log(scale)", 2])
}
ordered <- function(family, formula, fit) {
    begin("simulated", family, formula)
    table <- coef(summary(fit))
    rownames(table) <- sub("^([0-9])\\|[0-9]$", "Intercept[\\1]", rownames(table))
    coefficients_of(table)
    if (inherits(fit, "clmm")) line("sd_g__Intercept", sqrt(VarCorr(fit)$g[1]))
}
s$level <- factor(s$grade)
ordered("cumulative", "grade ~ x + z", clm(level ~ x + z, data = s))
ordered("cumulative(probit)", "grade ~ x + z", clm(level ~ x + z, data = s, link = "probit"))
ordered("cumulative", "grade ~ x + z + (1 | g)", clmm(level ~ x + z + (1 | g), data = s, nAGQ = 10))
linear("simulated", "normal | weights(weight) ~ x + z + f", lm(normal ~ x + z + f, s[rep(1:n, s$weight), ]))
begin("simulated", "gaussian", "spread ~ x + z + f, sigma ~ x")
# As lm and lmer have it: the maximum of the whole likelihood takes scales for too small.
fit <- glmmTMB(spread ~ x + z + f, dispformula = ~x, family = gaussian, s, REML = TRUE)
coefficients_of(coef(summary(fit))$cond)
disp <- coef(summary(fit))$disp # of the logarithm of the variance in this version
line("b_sigma_Intercept", disp[1, 1] / 2, disp[1, 2] / 2)
line("b_sigma_x", disp[2, 1] / 2, disp[2, 2] / 2)
linear("simulated", "normal ~ poly(x, 2, raw = TRUE) + z", lm(normal ~ poly(x, 2, raw = TRUE) + z, s))
generalised("simulated", "bernoulli(cloglog)", "censored ~ x + z", glm(censored ~ x + z, binomial("cloglog"), s))
mixed("simulated", "gaussian", "crossed ~ x + z + f + (1 + x + z | g)",
      lmer(crossed ~ x + z + f + (1 + x + z | g), s))
