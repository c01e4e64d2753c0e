/* The table of options.  Its ranges are the widest that can make sense; the library judges the
 * rest. */
#include <math.h>

#include <tacit/accountant.h>
#include <tacit/audit.h>
#include <tacit/serve.h>

#include "tools/options.h"

#define LENGTH(a) (sizeof(a) / sizeof(a)[0])

static const option_word sampling_words[] = {
    {"poisson", DP_SAMPLING_POISSON, "each record with probability q, independently in every step"},
    {"fixed", DP_SAMPLING_FIXED, "batches of a fixed size without replacement, drawn afresh"},
    {"full", DP_SAMPLING_FULL, "every record in every step"},
    {"allocation", DP_SAMPLING_ALLOCATION,
     "each record in one random batch of every epoch, drawn afresh"},
    {"truncated", DP_SAMPLING_TRUNCATED, "poisson, but cut to at most --cap records"},
    {"shuffle", DP_SAMPLING_SHUFFLE, "batches cut from a shuffled list: refused"},
};

static const option_word adjacency_words[] = {
    {"add-remove", DP_ADD_REMOVE, "one record more or less"},
    {"replace-one", DP_REPLACE_ONE, "one record changed to any other"},
};

static const option_word noise_words[] = {
    {"gaussian", DP_NOISE_GAUSSIAN, "normal"},
    {"laplace", DP_NOISE_LAPLACE, "Laplace of scale sigma"},
    {"discrete-gaussian", DP_NOISE_DISCRETE_GAUSSIAN, "on the integers"},
    {"rounded-gaussian", DP_NOISE_ROUNDED_GAUSSIAN, "normal, rounded to integers"},
    {"randomised-response", DP_NOISE_RANDOMISED_RESPONSE, "an answer replaced with chance sigma"},
};

static const option_word target_words[] = {
    {"gradients", DP_AUDIT_GRADIENTS, "the attacker sees the noisy sum of every step"},
    {"parameters", DP_AUDIT_PARAMETERS, "the attacker sees the parameters after the last step"},
    {"scales", DP_AUDIT_SCALES, "fit_private: how many records, of which size is what they tell"},
    {"norms", DP_AUDIT_NORMS, "fit_private: of which size their matrices are"},
    {"whitening", DP_AUDIT_WHITENING, "fit_private: the sum of these matrices"},
    {"score", DP_AUDIT_SCORE, "fit_private: the sum of clipped, centred scores"},
    {"count", DP_AUDIT_COUNT, "fit_private: how many are further out than is expected"},
    {"curvature", DP_AUDIT_CURVATURE, "fit_private: slope and variance of the scores"},
    {"loop", DP_AUDIT_LOOP, "fit_private: all that a fit by noisy steps releases"},
};

static const option_word protocol_words[] = {
    {"lattice", DP_SERVE_LATTICE, "numbers packed into polynomials: fast, many bytes"},
    {"paillier", DP_SERVE_PAILLIER, "one ciphertext a number: few bytes, slow"},
};

static const option_word mode_words[] = {
    {"linear", DP_SERVE_LINEAR, "who asks sees the answer alone; regressions"},
    {"permute", DP_SERVE_PERMUTE, "networks; who asks can find out the weights"},
};

static const option_word key_words[] = {
    {"2048", 2048, "112 bits of security"},
    {"3072", 3072, "128 bits; four times as slow"},
};

#define MOST_COUNT 9007199254740992.0 /* 2^53: every whole number up to it is a double */

static const option_range positive = {0, HUGE_VAL, true, true, false, "a number above 0"},
                          not_negative = {0, HUGE_VAL, false, true, false, "a number, not below 0"},
                          fraction = {0, 1, true, true, false, "a number above 0 and below 1"},
                          rate = {0, 1, true, false, false, "a number above 0 and at most 1"},
                          jump = {0,    HUGE_VAL, false,
                                  true, false,    "at most 64 numbers, not below 0"},
                          chance = {0, 1, false, false, false, "at most 64 numbers from 0 to 1"},
                          count = {1, MOST_COUNT, false, false, true, "a whole number from 1 up"},
                          several = {2,     4294967295.0, false,
                                     false, true,         "a whole number from 2 up"},
                          few = {1, 64, false, false, true, "a whole number from 1 to 64"},
                          halvings = {1, 52, false, false, true, "a whole number from 1 to 52"},
                          party = {0, 3, false, false, true, "0, 1, 2 or 3"},
                          lanes = {1, 24, false, false, true, "a whole number from 1 to 24"},
                          batch = {1, 65536, false, false, true, "a whole number from 1 to 65536"},
                          bits = {2, 30, false, false, true, "a whole number from 2 to 30"},
                          any = {-HUGE_VAL, HUGE_VAL, true, true, false, "two numbers"};

enum {
    COMMANDS = FOR_EPSILON | FOR_DELTA | FOR_SIGMA | FOR_RISK,
    MECHANISM = COMMANDS | FOR_PLAN,
    KNOWN_SIGMA = FOR_EPSILON | FOR_DELTA | FOR_RISK | FOR_PLAN,
    LISTS = FOR_EPSILON | FOR_DELTA | FOR_RISK,
    SESSIONS = FOR_SERVE | FOR_ASK,
    MODELS = FOR_SERVE | FOR_PROGRAM | FOR_SHARE
};

#define PLACE(member) offsetof(settings, member)
#define WORDS(array) .words = array, .n_words = LENGTH(array)

const option option_table[] = {
    {"sigma", OPTION_NUMBER, KNOWN_SIGMA | FOR_AUDIT | FOR_BOUNDS, PLACE(sigma), "S",
     "noise: its standard deviation divided by the clipping norm", "1.5", .range = &positive},
    {"sampling", OPTION_WORD, MECHANISM | FOR_AUDIT, PLACE(sampling), "WORD",
     "how the records of one step are chosen; always needed", "poisson", WORDS(sampling_words)},
    {"q", OPTION_NUMBER, MECHANISM | FOR_AUDIT, PLACE(q), "Q",
     "sampling rate; or give --n and --batch", "128/60000", .range = &rate},
    {"rate", OPTION_NUMBER, MECHANISM | FOR_AUDIT, PLACE(q), "Q", "the same as --q", "128/60000",
     .range = &rate},
    {"n", OPTION_NUMBER, MECHANISM, PLACE(n), "N", "number of records", "60000", .range = &count},
    {"batch", OPTION_NUMBER, MECHANISM, PLACE(batch), "B",
     "records in a batch (poisson: expected); q = B / N", "128", .range = &count},
    {"steps", OPTION_NUMBER, MECHANISM | FOR_AUDIT, PLACE(steps), "T", "number of releases", "9375",
     .range = &count},
    {"epoch", OPTION_NUMBER, MECHANISM | FOR_AUDIT, PLACE(epoch), "E",
     "allocation: steps of an epoch; q = 1 / E", "469", .range = &several},
    {"cap", OPTION_NUMBER, MECHANISM, PLACE(cap), "B", "truncated: largest batch", "200",
     .range = &count},
    {"rows", OPTION_NUMBER, MECHANISM, PLACE(rows), "K",
     "poisson: rows of one person, each sampled by itself", "3", .range = &few},
    {"noise", OPTION_WORD, MECHANISM, PLACE(noise), "WORD", "law of the noise", "gaussian",
     WORDS(noise_words)},
    {"categories", OPTION_NUMBER, MECHANISM, PLACE(categories), "K",
     "randomised-response: number of answers", "2", .range = &several},
    {"jumps", OPTION_NUMBERS, MECHANISM, PLACE(jumps), "X,...",
     "one person moves the sum by so many clipping norms", "0,1,2", .range = &jump},
    {"chances", OPTION_NUMBERS, MECHANISM, PLACE(chances), "P,...",
     "with these probabilities, one for each of --jumps", "0.9,0.08,0.02", .range = &chance},
    {"adjacency", OPTION_WORD, MECHANISM | FOR_LEDGER, PLACE(adjacency), "WORD",
     "which data sets are neighbours; that of the sampling when not given", "add-remove",
     WORDS(adjacency_words)},
    {"epsilon", OPTION_NUMBER, FOR_DELTA, PLACE(epsilon), "E", "privacy loss, in nats", "1",
     .range = &not_negative},
    {"epsilon", OPTION_NUMBER, FOR_SIGMA | FOR_AUDIT | FOR_LEDGER | FOR_BOUNDS, PLACE(epsilon), "E",
     "privacy loss, in nats", "1", .range = &positive},
    {"delta", OPTION_NUMBER,
     FOR_EPSILON | FOR_SIGMA | FOR_RISK | FOR_AUDIT | FOR_LEDGER | FOR_BOUNDS, PLACE(delta), "D",
     "probability with which epsilon may fail; below 1 / N", "1e-6", .range = &fraction},
    {"plan", OPTION_TEXT, LISTS, PLACE(plan), "FILE",
     "a list of mechanisms instead of one; - is standard input", "plan.txt", .range = NULL},
    {"width", OPTION_NUMBER, COMMANDS, PLACE(width), "W",
     "widest interval, relative to its upper end; 0.001 when not given", "0.001",
     .range = &fraction},
    {"plot", OPTION_TEXT, FOR_RISK, PLACE(plot), "FILE", "draw the curves as SVG", "risk.svg",
     .range = NULL},
    {"target", OPTION_WORD, FOR_AUDIT, PLACE(target), "WORD",
     "what is seen; gradients when not given", "parameters", WORDS(target_words)},
    {"runs", OPTION_NUMBER, FOR_AUDIT, PLACE(runs), "R",
     "runs with the record, and as many without; 100000 when not given", "200000", .range = &count},
    {"canaries", OPTION_NUMBER, FOR_AUDIT, PLACE(canaries), "M",
     "instead: one run with so many records, each there by a fair coin", "3000", .range = &several},
    {"confidence", OPTION_NUMBER, FOR_AUDIT, PLACE(confidence), "P",
     "probability that the measured bound is right; 0.99 when not given", "0.99",
     .range = &fraction},
    {"ledger", OPTION_TEXT, FOR_BOUNDS, PLACE(ledger), "LEDGER", "the ledger that pays",
     "clinic.ledger", .range = NULL},
    {"data", OPTION_TEXT, FOR_LEDGER | FOR_BOUNDS, PLACE(data), "FILE", "the data set's file",
     "visits.csv", .range = NULL},
    {"name", OPTION_TEXT, FOR_LEDGER | FOR_BOUNDS, PLACE(name), "NAME", "its name in the ledger",
     "visits", .range = NULL},
    {"unit", OPTION_TEXT, FOR_LEDGER | FOR_BOUNDS, PLACE(unit), "COLUMN",
     "column that tells whose a record is, where people have several", "person", .range = NULL},
    {"overlap-allowed", OPTION_FLAG, FOR_LEDGER, PLACE(overlap_allowed), NULL,
     "other data sets may have the same values: they are of other people, or it is meant",
     .range = NULL},
    {"column", OPTION_TEXT, FOR_BOUNDS, PLACE(column), "NAME", "column of numbers", "age",
     .range = NULL},
    {"range", OPTION_NUMBERS, FOR_BOUNDS, PLACE(range), "LOW,HIGH",
     "what is known of its values without the data", "0,120", .range = &any},
    {"share", OPTION_NUMBER, FOR_BOUNDS, PLACE(share), "P",
     "share of records that is to lie between; 0.95 when not given", "0.95", .range = &fraction},
    {"levels", OPTION_NUMBER, FOR_BOUNDS, PLACE(levels), "L",
     "halvings of the range, two counts each; 12 when not given", "12", .range = &halvings},
    {"identity", OPTION_TEXT, SESSIONS | FOR_PARTY | FOR_SHARE, PLACE(identity), "FILE",
     "who you are; tacit keys create makes it", "clinic.identity", .range = NULL},
    {"listen", OPTION_TEXT, FOR_SERVE, PLACE(listen), "HOST:PORT", "where; port 0 is any free one",
     "0.0.0.0:7001", .range = NULL},
    {"parties", OPTION_TEXT, FOR_PARTY | FOR_SHARE | FOR_ASK, PLACE(parties), "FILE",
     "the computing parties and their provider, the same list for everybody", "clinic.parties",
     .range = NULL},
    {"id", OPTION_NUMBER, FOR_PARTY, PLACE(id), "I", "which of them this is, from 0", "0",
     .range = &party},
    {"listen", OPTION_TEXT, FOR_PARTY, PLACE(listen), "HOST:PORT",
     "where; what the list says of this party when not given", "0.0.0.0:7001", .range = NULL},
    {"lanes", OPTION_NUMBER, FOR_PARTY, PLACE(lanes), "N",
     "threads of a session, at most; 1 when not given", "6", .range = &lanes},
    {"lanes", OPTION_NUMBER, FOR_ASK, PLACE(lanes), "N",
     "parties: among which records are divided; 1 when not given", "6", .range = &lanes},
    {"records", OPTION_NUMBER, FOR_PARTY, PLACE(records), "N",
     "of a query, at most; 1024 when not given", "1024", .range = &batch},
    {"records", OPTION_NUMBER, FOR_ASK, PLACE(records), "N",
     "parties: asked about at a time; 128 when not given", "128", .range = &batch},
    {"label", OPTION_FLAG, FOR_SHARE | FOR_PROGRAM, PLACE(label), NULL,
     "answer with the class alone, and not with scores", .range = NULL},
    {"probabilistic", OPTION_FLAG, FOR_SHARE, PLACE(probabilistic), NULL,
     "round by chance: fewer bytes and rounds, and answers that are not exact", .range = NULL},
    {"policy", OPTION_TEXT, FOR_SERVE | FOR_PARTY, PLACE(policy), "FILE",
     "who may ask what, and how often", "clinic.policy", .range = NULL},
    {"log", OPTION_TEXT, FOR_SERVE | FOR_PARTY, PLACE(log), "FILE",
     "who asked when; budgets are counted in it", "clinic.log", .range = NULL},
    {"provider", OPTION_TEXT, FOR_ASK, PLACE(provider), "tacit:...",
     "the fingerprint that the provider must have", "tacit:00112233...", .range = NULL},
    {"program", OPTION_TEXT, FOR_ASK, PLACE(program), "DIGITS",
     "the hash of the program that is meant; any when not given", "00112233...", .range = NULL},
    {"data", OPTION_TEXT, FOR_ASK, PLACE(data), "FILE", "the records, as CSV or NPY",
     "patients.csv", .range = NULL},
    {"data", OPTION_TEXT, FOR_PROGRAM, PLACE(data), "FILE", "run: the records, as CSV or NPY",
     "patients.csv", .range = NULL},
    {"exact", OPTION_FLAG, FOR_PROGRAM, PLACE(exact), NULL, "run: by the integers of the protocols",
     .range = NULL},
    {"protocol", OPTION_WORD, SESSIONS, PLACE(protocol), "WORD",
     "how it is computed; lattice when not given", "lattice", WORDS(protocol_words)},
    {"mode", OPTION_WORD, SESSIONS, PLACE(mode), "WORD", "who sees what; linear when not given",
     "linear", WORDS(mode_words)},
    {"column", OPTION_TEXT, MODELS, PLACE(column), "NAME",
     "what is answered, where the model observes several columns", "readmitted", .range = NULL},
    {"range", OPTION_NUMBERS, MODELS, PLACE(range), "LOW,HIGH",
     "between what the numbers of records lie, known without data", "-1,1", .range = &any},
    {"bounds", OPTION_TEXT, MODELS, PLACE(bounds), "NAME=LOW,HIGH;...",
     "the same of single columns", "'age=0,120; x[2]=-1,1'", .range = NULL},
    {"draws", OPTION_NUMBER, MODELS, PLACE(draws), "S",
     "answer by so many posterior draws; their mean when not given", "20", .range = &count},
    {"weight-bits", OPTION_NUMBER, MODELS, PLACE(weight_bits), "B",
     "of a stage's largest weight; 12 when not given", "12", .range = &bits},
    {"activation-bits", OPTION_NUMBER, MODELS, PLACE(activation_bits), "B",
     "of the input and of hidden numbers; 16 when not given", "16", .range = &bits},
    {"key-bits", OPTION_WORD, SESSIONS | FOR_PROGRAM, PLACE(key_bits), "BITS",
     "paillier: of the asker's keys; 2048 when not given", "2048", WORDS(key_words)},
    {"threads", OPTION_NUMBER, SESSIONS, PLACE(threads), "N", "of a session; 1 when not given", "4",
     .range = &few},
    {"in-flight", OPTION_NUMBER, SESSIONS, PLACE(in_flight), "N",
     "records of a session at a time; ask: 1, serve: 16 when not given", "8", .range = &few},
    {"allow-activation-leak", OPTION_FLAG, SESSIONS, PLACE(allow_activation_leak), NULL,
     "mode permute: the weights may become known", .range = NULL},
    {"allow-probabilistic", OPTION_FLAG, FOR_ASK, PLACE(allow_probabilistic), NULL,
     "parties: answers need not be exact, and are wrong now and then", .range = NULL},
    {"json", OPTION_FLAG,
     COMMANDS | FOR_AUDIT | FOR_LEDGER | FOR_BOUNDS | FOR_KEYS | FOR_ASK | FOR_PROGRAM, PLACE(json),
     NULL, "answer with one JSON object", .range = NULL},
    {"help", OPTION_FLAG,
     COMMANDS | FOR_AUDIT | FOR_LEDGER | FOR_BOUNDS | FOR_KEYS | SESSIONS | MODELS | FOR_PARTY,
     PLACE(help), NULL, "this text", .range = NULL},
};
const size_t n_options = LENGTH(option_table);
_Static_assert(LENGTH(option_table) <= MOST_OPTIONS, "settings.given has a place for each option");
