// Modified Bessel functions of the second kind, plain and scaled by exp(x).
//
// The Chebyshev coefficients are expansions of the functions named beside them, computed with 36
// digits (mpmath) and cut where they fall below the precision of float64.
#include <cmath>
#include <numbers>

#include "ops/pointwise.h"
#include "ops/special.h"

namespace torch_tpu::ops {
namespace {

// K0(x) + log(x / 2) I0(x) on [0, 2], in x^2 / 2 - 1.
constexpr double kK0Small[] = {
    -0.53532739323390277,   0.34428989992462849,   0.035979936515361502,  0.0012646154114469259,
    2.2862121031194518e-5,  2.5347910790261495e-7, 1.9045163772202089e-9, 1.0349695257633625e-11,
    4.2598161427910826e-14, 1.3744654358807509e-16};

// I0(x), the same.
constexpr double kI0Near[] = {
    3.2058456136159266,     0.63880962565117701,   0.036854859694361758,  0.00098287812725147983,
    1.4983654208927293e-5,  1.4738449008423847e-7, 1.0114797900674825e-9, 5.1149979020112798e-12,
    1.9842806226805619e-14, 6.0905165060589549e-17};

// x (K1(x) - log(x / 2) I1(x)), the same.
constexpr double kK1Small[] = {
    1.5253002273389478,      -0.35315596077654488,    -0.12261118082265715,
    -0.0069757238596398644,  -0.00017302889575130521, -2.4334061415659682e-6,
    -2.2133876307347259e-8,  -1.4114883926335278e-10, -6.666901694199329e-13,
    -2.4274498505193659e-15, -7.0238634793862876e-18};

// I1(x) / x, the same.
constexpr double kI1Near[] = {
    1.2835179939823748,     0.14753932014919342,    0.0058987426800207883,
    0.00011988137174638708, 1.4739165119093127e-6,  1.2138074968740922e-8,
    7.1611066927992795e-11, 3.1748793113101199e-13, 1.0962998348773075e-15};

// sqrt(x) exp(x) K0(x) on [2, inf), in 4 / x - 1.
constexpr double kK0Large[] = {
    2.4403030820659555,      -0.031448101311964501,   0.0015698838857300534,
    -0.00012849549581627803, 1.3949813718876499e-5,   -1.8317555227191195e-6,
    2.7668136394450151e-7,   -4.6604898976879477e-8,  8.5740340174142261e-9,
    -1.6975345093890615e-9,  3.5773972814003284e-10,  -7.957489244477397e-11,
    1.8559491149549266e-11,  -4.5145978833745192e-12, 1.1403405882073442e-12,
    -2.9800969231481784e-13, 8.0328907750683744e-14,  -2.2275133267462964e-14,
    6.340076476276646e-15,   -1.8485933779209072e-15, 5.5120559994043333e-16,
    -1.6782311257549004e-16, 5.210391777643549e-17,   -1.6475805939842516e-17};

// sqrt(x) exp(x) K1(x), the same.
constexpr double kK1Large[] = {
    2.7206261904844427,      0.10392373657681724,     -0.0028578168596227794,
    0.00019521551847135163,  -1.936197974166083e-5,   2.4064849478372171e-6,
    -3.5019606030878125e-7,  5.7410841254500493e-8,   -1.0345762465678097e-8,
    2.0150497551970346e-9,   -4.1903547593419256e-10, 9.2183151876053141e-11,
    -2.129967838427791e-11,  5.1396396734823435e-12,  -1.2891739609498229e-12,
    3.3484196660522431e-13,  -8.9767051820101461e-14, 2.4771544242195987e-14,
    -7.0198370892147688e-15, 2.0387031662398609e-15,  -6.0570472706430177e-16,
    1.8380935752430452e-16,  -5.6894628491936431e-17, 1.7940510478863451e-17};

// x in the table's variable on [0, 2].
Value Near(Value x) { return x * x * 0.5 - 1.0; }

Value ScaledFar(Value x, std::span<const double> table) {
  return Chebyshev(4.0 / x - 1.0, table) / sqrt(x);
}

// inf at 0, NaN below.
Value AtEnds(Value x, Value near, Value far) {
  Value inside = where(x <= 2.0, near, far);
  return where(x == 0.0, INFINITY, where(x < 0.0, NAN, inside));
}

Value SmallK0(Value x) {
  return Chebyshev(Near(x), kK0Small) - log(x * 0.5) * Chebyshev(Near(x), kI0Near);
}

Value SmallK1(Value x) {
  return Chebyshev(Near(x), kK1Small) / x + log(x * 0.5) * x * Chebyshev(Near(x), kI1Near);
}

template <Value (*kSmall)(Value), const double* kTable, int kSize>
Value Plain(Call& c) {
  Value x = ResultOperand(c, 0);
  return AtEnds(x, kSmall(x), exponential(-x) * ScaledFar(x, {kTable, kSize}));
}

template <Value (*kSmall)(Value), const double* kTable, int kSize>
Value Scaled(Call& c) {
  Value x = ResultOperand(c, 0);
  return AtEnds(x, kSmall(x) * exponential(x), ScaledFar(x, {kTable, kSize}));
}

constexpr int kSize0 = std::size(kK0Large), kSize1 = std::size(kK1Large);
LOWER("aten::special_modified_bessel_k0", (Plain<SmallK0, kK0Large, kSize0>));
LOWER("aten::special_modified_bessel_k1", (Plain<SmallK1, kK1Large, kSize1>));
LOWER("aten::special_scaled_modified_bessel_k0", (Scaled<SmallK0, kK0Large, kSize0>));
LOWER("aten::special_scaled_modified_bessel_k1", (Scaled<SmallK1, kK1Large, kSize1>));

}  // namespace
}  // namespace torch_tpu::ops
