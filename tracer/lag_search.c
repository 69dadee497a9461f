#include "tracer/lag_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_fft_halfcomplex.h>
#include <gsl/gsl_fft_real.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_statistics_double.h>

#include "base/memory.h"

/* The rest of the lags gives so many highest peaks, whose distribution is that of the highest by
 * chance (Gumbel). */
#define PARTS 32
/* Lags so close to the peak are part of it, whatever its width. */
#define LEAST_WIDTH 8
#define SLOW_BINS   512

struct spectra {
    size_t n_bins;   /* of the users' signals */
    size_t n_lags;   /* that are tried */
    size_t n_blocks; /* bins of the blocks' signals: n_bins + n_lags - 1 */
    size_t padded;   /* power of two */
};

static size_t power_of_two(size_t least) {
    size_t power = 1;
    while (power < least)
        power *= 2;
    return power;
}

/* Takes away what is slower than a few hundred bins: programs do nothing for a while, then much,
 * and such phases go together at many lags. */
static void leave_fast(double *bins, size_t n) {
    double *sums = memory_alloc(n + 1, sizeof *sums);
    for (size_t i = 0; i < n; i++)
        sums[i + 1] = sums[i] + bins[i];
    for (size_t i = 0; i < n; i++) {
        size_t from = i > SLOW_BINS / 2 ? i - SLOW_BINS / 2 : 0;
        size_t to = i + SLOW_BINS / 2 < n ? i + SLOW_BINS / 2 : n;
        bins[i] -= (sums[to] - sums[from]) / (double)(to - from);
    }
    free(sums);
}

/* The spectrum of a signal from `from_ns` on, without its mean; `norm` gets its norm then. */
static double *user_spectrum(const struct spectra *sizes, const struct busy *busy,
                             const struct lag_window *window, double *norm) {
    double *bins = memory_alloc(sizes->padded, sizeof *bins);
    busy_sample(busy, window->from_ns, window->bin_ns, bins, sizes->n_bins);
    leave_fast(bins, sizes->n_bins);
    double mean = gsl_stats_mean(bins, 1, sizes->n_bins), squares = 0;
    for (size_t i = 0; i < sizes->n_bins; i++) {
        bins[i] -= mean;
        squares += bins[i] * bins[i];
    }
    *norm = sqrt(squares);
    gsl_fft_real_radix2_transform(bins, 1, sizes->padded);
    return bins;
}

/* The spectrum of a block signal; `norms` gets, for each lag, the norm of the part that the users'
 * signal is held against, without its mean. */
static double *block_spectrum(const struct spectra *sizes, const struct busy *busy,
                              const struct lag_window *window, double *norms) {
    double *bins = memory_alloc(sizes->padded, sizeof *bins);
    busy_sample(busy, window->from_ns - window->most_lag_ns, window->bin_ns, bins, sizes->n_blocks);
    leave_fast(bins, sizes->n_blocks);
    double sum = 0, squares = 0, n = (double)sizes->n_bins, all = 0;
    for (size_t i = 0; i < sizes->n_blocks; i++)
        all += bins[i] * bins[i];
    /* Parts in which next to nothing happens would correlate with anything. */
    double least = 0.1 * all * n / (double)sizes->n_blocks;
    for (size_t i = 0; i < sizes->n_blocks; i++) {
        sum += bins[i];
        squares += bins[i] * bins[i];
        if (i + 1 < sizes->n_bins)
            continue;
        size_t lag = i + 1 - sizes->n_bins;
        norms[lag] = sqrt(fmax(squares - sum * sum / n, least));
        sum -= bins[lag];
        squares -= bins[lag] * bins[lag];
    }
    gsl_fft_real_radix2_transform(bins, 1, sizes->padded);
    return bins;
}

/* The correlation at each lag, by the product of the spectra, in `product`. */
static void correlate(const struct spectra *sizes, const double *user, const double *block,
                      double *product) {
    size_t n = sizes->padded;
    product[0] = user[0] * block[0];
    product[n / 2] = user[n / 2] * block[n / 2];
    for (size_t k = 1; k < n / 2; k++) {
        product[k] = user[k] * block[k] + user[n - k] * block[n - k];
        product[n - k] = user[k] * block[n - k] - user[n - k] * block[k];
    }
    gsl_fft_halfcomplex_radix2_inverse(product, 1, n);
}

/* ---- the peak and what surrounds it ---- */

static size_t highest(const double *values, size_t from, size_t to) {
    size_t best = from;
    for (size_t i = from; i < to; i++)
        if (values[i] > values[best])
            best = i;
    return best;
}

/* The peak's surroundings: to where it has fallen to half of its height, and as far again. */
static void surroundings(const double *sums, size_t n, size_t peak, size_t *from, size_t *to) {
    size_t left = peak, right = peak;
    while (left > 0 && sums[left] > sums[peak] / 2)
        left--;
    while (right + 1 < n && sums[right] > sums[peak] / 2)
        right++;
    size_t left_width = 2 * (peak - left) + LEAST_WIDTH;
    size_t right_width = 2 * (right - peak) + LEAST_WIDTH;
    *from = peak > left_width ? peak - left_width : 0;
    *to = peak + right_width < n ? peak + right_width : n;
}

/* Probability that the highest of all parts of the background reaches `height`. */
static double chance_of(double height, const double *highest_of_parts, size_t n) {
    if (n < PARTS / 2)
        return 1;
    double scale = gsl_stats_sd(highest_of_parts, 1, n) * sqrt(6) / M_PI;
    double mode = gsl_stats_mean(highest_of_parts, 1, n) - M_EULER * scale;
    if (scale <= 0)
        return height > mode ? 0 : 1;
    return -expm1(-(double)n * exp(-(height - mode) / scale));
}

static struct lag_peak judge(const double *sums, size_t n) {
    size_t peak = highest(sums, 0, n), from, to;
    surroundings(sums, n, peak, &from, &to);
    struct lag_peak found = {.lag_ns = (double)peak, .height = sums[peak], .next = -1};
    double parts[PARTS];
    size_t n_parts = 0;
    for (size_t part = 0; part < PARTS; part++) {
        size_t first = n * part / PARTS, last = n * (part + 1) / PARTS;
        double best = -INFINITY;
        for (size_t i = first; i < last; i++)
            if (i < from || i >= to)
                best = fmax(best, sums[i]);
        if (best > -INFINITY)
            parts[n_parts++] = busy_fisher(best);
        found.next = fmax(found.next, best);
    }
    found.chance = found.height > 0 ? chance_of(busy_fisher(found.height), parts, n_parts) : 1;
    return found;
}

/* ---- all pairs ---- */

static void add_user(const struct spectra *sizes, const struct busy *user,
                     const struct lag_window *window, double *const *blocks,
                     double *const *block_norms, size_t n_blocks, double *sums) {
    double norm;
    double *spectrum = user_spectrum(sizes, user, window, &norm);
    double *product = memory_alloc(sizes->padded, sizeof *product);
    double *best = memory_alloc(sizes->n_lags, sizeof *best);
    for (size_t j = 0; j < n_blocks && norm > 0; j++) {
        correlate(sizes, spectrum, blocks[j], product);
        for (size_t lag = 0; lag < sizes->n_lags; lag++)
            if (block_norms[j][lag] > 0)
                best[lag] = fmax(best[lag], product[lag] / (norm * block_norms[j][lag]));
    }
    for (size_t lag = 0; lag < sizes->n_lags; lag++)
        sums[lag] += best[lag];
    free(best);
    free(product);
    free(spectrum);
}

struct lag_peak lag_search(const struct lag_sides *sides, const struct lag_window *window) {
    struct spectra sizes = {
        .n_bins = (size_t)ceil((window->to_ns - window->from_ns) / window->bin_ns),
        .n_lags = (size_t)ceil((window->most_lag_ns - window->least_lag_ns) / window->bin_ns) + 1};
    sizes.n_blocks = sizes.n_bins + sizes.n_lags - 1;
    sizes.padded = power_of_two(sizes.n_blocks + 1);
    double **blocks = memory_alloc(sides->n_blocks, sizeof *blocks);
    double **norms = memory_alloc(sides->n_blocks, sizeof *norms);
    for (size_t j = 0; j < sides->n_blocks; j++) {
        norms[j] = memory_alloc(sizes.n_lags, sizeof **norms);
        blocks[j] = block_spectrum(&sizes, &sides->blocks[j], window, norms[j]);
    }
    double *sums = memory_alloc(sizes.n_lags, sizeof *sums);
    for (size_t i = 0; i < sides->n_users; i++)
        add_user(&sizes, &sides->users[i], window, blocks, norms, sides->n_blocks, sums);
    for (size_t lag = 0; lag < sizes.n_lags; lag++)
        sums[lag] /= (double)sides->n_users;
    struct lag_peak peak = judge(sums, sizes.n_lags);
    peak.lag_ns = window->most_lag_ns - peak.lag_ns * window->bin_ns;
    for (size_t j = 0; j < sides->n_blocks; j++) {
        free(blocks[j]);
        free(norms[j]);
    }
    free(blocks);
    free(norms);
    free(sums);
    return peak;
}
