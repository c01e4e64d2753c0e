# Private fits from R, by the command tacit: source("tacit.R").
#
#   fit <- tacit(use ~ age + urban + (1 | district), family = "bernoulli", data = "contraception.csv",
#                schema = "contraception.schema", epsilon = 2, delta = 1e-4, out = "use.fit")
#   posterior::summarise_draws(fit)
#   attr(fit, "epsilon"); attr(fit, "checks")
#
# It needs nothing but R; where the package posterior is there, draws are its draws_df.  The program
# is the one on PATH, or that of options(tacit.program = "/path/to/tacit").

# Runs the command; stops with its own words where it refuses.
tacit_run <- function(arguments) {
  program <- getOption("tacit.program", "tacit")
  said <- tempfile("said")
  on.exit(unlink(said))
  status <- suppressWarnings(system2(program, shQuote(arguments), stdout = FALSE, stderr = said))
  words <- if (file.exists(said)) readLines(said, warn = FALSE) else character()
  if (status == 127)
    stop("there is no program '", program, "'; install tacit, or set options(tacit.program = ...)", call. = FALSE)
  if (status != 0)
    stop(paste(words, collapse = "\n"), call. = FALSE)
  if (length(words) > 0)
    warning(paste(words, collapse = "\n"), call. = FALSE)
  invisible(TRUE)
}

# What lines of comment say: a list of texts by name, in order.
tacit_notes <- function(lines) {
  parts <- regmatches(lines, regexec("^# ([a-z_]+) = (.*)$", lines, useBytes = FALSE))
  parts <- parts[lengths(parts) == 3]
  list(name = vapply(parts, `[[`, "", 2), text = vapply(parts, `[[`, "", 3))
}

# Names "a.2.1" of arrays as posterior has them, "a[2,1]"; groups by their levels, "r_g__x[north]".
tacit_names <- function(names, notes) {
  arrays <- which(notes$name == "array")
  for (k in arrays) {
    extent <- as.integer(strsplit(sub(" .*$", "", notes$text[k]), ",", fixed = TRUE)[[1]])
    of <- sub("^[^ ]* ", "", notes$text[k])
    at <- as.matrix(expand.grid(lapply(extent, seq_len)))
    old <- paste0(of, ".", apply(at, 1, paste, collapse = "."))
    index <- apply(at, 1, paste, collapse = ",")
    if (k + 2 <= length(notes$name) && notes$name[k + 2] == "levels")
      index <- scan(text = notes$text[k + 2], what = "", sep = ",", quote = "\"", quiet = TRUE,
                    strip.white = FALSE, comment.char = "")
    found <- match(old, names)
    names[found[!is.na(found)]] <- paste0(of, "[", index, "]")[!is.na(found)]
  }
  names
}

# The draws of a file that tacit export --csv has written.
read_tacit_csv <- function(path) {
  lines <- readLines(path, encoding = "UTF-8", warn = FALSE)
  head <- startsWith(lines, "#")
  notes <- tacit_notes(lines[head])
  draws <- utils::read.csv(text = lines[!head], check.names = FALSE, encoding = "UTF-8")
  names(draws) <- tacit_names(names(draws), notes)
  if (requireNamespace("posterior", quietly = TRUE))
    draws <- posterior::as_draws_df(draws)
  for (name in setdiff(unique(notes$name), c("array", "groups", "levels"))) {
    text <- notes$text[notes$name == name]
    value <- switch(name, private = text == "true", epsilon = , delta = as.numeric(text),
                    checks = text, paste(text, collapse = "\n"))
    attr(draws, name) <- value
  }
  draws
}

# The draws of a saved fit: all that it keeps, or so many.
read_tacit <- function(fit, draws = NULL) {
  csv <- tempfile("draws", fileext = ".csv")
  on.exit(unlink(csv))
  tacit_run(c("export", fit, "--csv", csv,
              if (!is.null(draws)) c("--draws", format(draws, scientific = FALSE))))
  read_tacit_csv(csv)
}

# Fits a formula privately and gives its draws, with what was spent and checked as attributes
# "epsilon", "delta", "private", "checks".
#   formula  of R, or its text       data    a data.frame, or the path of a table
#   schema   path of the schema      out     where the fit is kept; not kept when NULL
#   ...      further options of tacit fit by their names with _ for -, as ledger = "clinic.ledger"
# A data.frame is written to R's own temporary folder, which others cannot read, and removed.
tacit <- function(formula, family = "gaussian", data, schema, epsilon, delta, out = NULL, ...) {
  folder <- tempfile("tacit")
  dir.create(folder, mode = "0700")
  on.exit(unlink(folder, recursive = TRUE))
  if (is.data.frame(data)) {
    utils::write.csv(data, file.path(folder, "data.csv"), row.names = FALSE, quote = TRUE,
                     fileEncoding = "UTF-8")
    data <- file.path(folder, "data.csv")
  }
  text <- if (inherits(formula, "formula")) paste(deparse(formula, width.cutoff = 500L), collapse = " ") else formula
  fit <- if (is.null(out)) file.path(folder, "fit") else out
  more <- list(...)
  number <- function(x) format(x, digits = 17, scientific = NA)
  options <- unlist(lapply(names(more), function(name) {
    value <- more[[name]]
    flag <- paste0("--", gsub("_", "-", name, fixed = TRUE))
    if (isTRUE(value)) flag else if (isFALSE(value)) NULL else c(flag, if (is.numeric(value)) number(value) else value)
  }))
  budget <- c(if (!missing(epsilon)) c("--epsilon", number(epsilon)),
              if (!missing(delta)) c("--delta", number(delta)))
  tacit_run(c("fit", text, "--family", family, "--data", data, "--schema", schema, budget, "--out", fit, options))
  read_tacit(fit)
}
