// Bessel functions of the first and second kind.
//
// The Chebyshev coefficients are expansions of the functions named beside them, computed with 36
// digits (mpmath) and cut where they fall below the precision of float64.
#include <cmath>
#include <numbers>

#include "ops/pointwise.h"
#include "ops/special.h"

namespace torch_tpu::ops {
namespace {

// J0(x) on [0, 8], in x^2 / 32 - 1.
constexpr double kJ0Small[] = {
    0.31545594294978024,     -0.0087234423528522213,  0.26517861320333681,
    -0.37009499387264978,    0.15806710233209726,     -0.034893769411408885,
    0.0048191800694676045,   -0.00046062616620627505, 3.2460328821005081e-5,
    -1.7619469077621507e-6,  7.6081635924187819e-8,   -2.6792535305576729e-9,
    7.8486963144794644e-11,  -1.9438346867370166e-12, 4.1253205956343739e-14,
    -7.5885081254475463e-16, 1.2218515873961411e-17};

// Y0(x) - 2 / pi log(x) J0(x), the same.
constexpr double kY0Small[] = {
    -0.066292226406569883,   -0.27447430552974527,   0.17903431407718266,
    0.26156734625504664,     -0.17730201278114358,   0.047196689595763387,
    -0.0072879624795520792,  0.00075311359325777423, -5.632079141056987e-5,
    3.206532537654801e-6,    -1.4407233274018699e-7, 5.2487947873305161e-9,
    -1.5837552541812015e-10, 4.0263308183061208e-12, -8.7473412033107696e-14,
    1.6434898714919469e-15,  -2.6977881152566836e-17};

// J1(x) / x, the same.
constexpr double kJ1Small[] = {
    0.16208969265131623,    -0.14897514506765211,    0.1609992623572097,
    -0.082680491766817907,  0.022213639654966035,    -0.003646940600769276,
    0.00040503377283548218, -3.2555548668572585e-5,  1.9858774049915167e-6,
    -9.5219847567504362e-8, 3.6871337590971482e-9,   -1.1780266226958848e-10,
    3.1601545803480033e-12, -7.2217552396517734e-14, 1.4232144003513942e-15,
    -2.4441972916190464e-17};

// (Y1(x) - 2 / pi (log(x) J1(x) - 1 / x)) / x, the same.
constexpr double kY1Small[] = {
    0.0050760264714835635,   -0.01608717304766875,  -0.095912045360830742,   0.084451972596523458,
    -0.028328123944594366,   0.005289897544167113,  -0.0006414551451326356,  5.5059828733387438e-5,
    -3.5380800186893499e-6,  1.7707804556154403e-7, -7.1105500498992798e-9,  2.3443379059115164e-10,
    -6.4651518414115942e-12, 1.51429151205002e-13,  -3.0511859694473253e-15, 5.3466803857286701e-17,
    -8.2249113720215846e-19};

// P of order 0 on [8, inf), in 2 (8 / x)^2 - 1.
constexpr double kP0[] = {1.9989206986950373,      -0.00053652204681321174, 3.0751847875194746e-6,
                          -5.1705945376060977e-8,  1.6306464635151383e-9,   -7.86409137723707e-11,
                          5.1682623873491925e-12,  -4.3045788699253912e-13, 4.3265957431549406e-14,
                          -5.0690340959352361e-15, 6.7480722157338737e-16,  -1.0011513723467786e-16,
                          1.6305919233744185e-17};

// x / 8 Q, the same.
constexpr double kQ0[] = {-0.031111709210674018,   6.8385199426116496e-5,  -7.4144984110606473e-7,
                          1.7972457247968992e-8,   -7.27191593686632e-10,  4.2201219046687384e-11,
                          -3.2067474209966347e-12, 3.0061451253517063e-13, -3.336328185322427e-14,
                          4.2552250402454611e-15,  -6.09993013164005e-16,  9.6621289703032567e-17,
                          -1.6686065214378146e-17, 3.1082440486738144e-18, -6.1911157873581428e-19,
                          1.3091448717220067e-19};

// P of order 1 on [8, inf), in 2 (8 / x)^2 - 1.
constexpr double kP1[] = {2.0018060817200274,      0.00089898983308594086,  -3.9872843004889085e-6,
                          6.1776339606442985e-8,   -1.8718907491063066e-9,  8.8168986595823389e-11,
                          -5.7048636403956447e-12, 4.6991955152305424e-13,  -4.6842237839904892e-14,
                          5.4526748960447172e-15,  -7.2211808422740179e-16, 1.0667689114335412e-16,
                          -1.7312313216116335e-17};

// x / 8 Q, the same.
constexpr double kQ1[] = {0.09355557413907065,     -9.6277235491570793e-5,  9.1386152579554541e-7,
                          -2.0959781384083422e-8,  8.2291933276505541e-10,  -4.6863636881769452e-11,
                          3.5152187949686081e-12,  -3.2643156743278999e-13, 3.5967765829165292e-14,
                          -4.5612523950772972e-15, 6.508282957783384e-16,   -1.0269147531823243e-16,
                          1.7676355487764792e-17,  -3.2834519872981613e-18, 6.5240811495892574e-19};

// The tables beyond 8 and the phase, of order 0 or 1.
struct Order {
  double half_turns;  // the phase in pi
  std::span<const double> p, q;
};

// P and Q of the asymptotic form A (P sin(chi) + Q cos(chi)) beyond 8, chi = x - phase.
Value Oscillating(Value x, const Order& order) {
  Value inverse = 8.0 / x, t = inverse * inverse * 2.0 - 1.0;
  Value p = Chebyshev(t, order.p), q = Chebyshev(t, order.q) * inverse;
  const double phase = order.half_turns * std::numbers::pi;
  Value s = sine(x), c = cosine(x);
  Value sin_chi = s * std::cos(phase) - c * std::sin(phase);
  Value cos_chi = c * std::cos(phase) + s * std::sin(phase);
  return sqrt(2.0 / (x * std::numbers::pi)) * (p * sin_chi + q * cos_chi);
}

constexpr double kTwoOverPi = 2 / std::numbers::pi;

// The same with A (P cos(chi) - Q sin(chi)), which is Oscillating a quarter turn back.
Value Quadrature(Value x, const Order& order) {
  return Oscillating(x, {order.half_turns - 0.5, order.p, order.q});
}

// x^2 / 32 - 1 up to 8, where the tables for small arguments hold.
Value SmallArgument(Value x) {
  Value inside = min(x, full_like(x, 8.0));
  return inside * inside * (1.0 / 32) - 1.0;
}

Value BesselJ0(Call& c) {
  Value x = abs(ResultOperand(c, 0));
  Value large = Quadrature(x, {0.25, kP0, kQ0});
  return where(x <= 8.0, Chebyshev(SmallArgument(x), kJ0Small), large);
}

Value BesselJ1(Call& c) {
  Value x = ResultOperand(c, 0), size = abs(x);
  Value small = Chebyshev(SmallArgument(size), kJ1Small) * x;
  Value large = Quadrature(size, {0.75, kP1, kQ1});
  return where(size <= 8.0, small, where(x < 0.0, -large, large));
}

Value SphericalBesselJ0(Call& c) {  // sin(x) / x
  Value x = ResultOperand(c, 0);
  return where(abs(x) == INFINITY, 0.0, where(x == 0.0, 1.0, sine(x) / x));
}

LOWER("aten::special_bessel_j0", BesselJ0);
LOWER("aten::special_bessel_j1", BesselJ1);
LOWER("aten::special_spherical_bessel_j0", SphericalBesselJ0);

// special_bessel_y0(self): -inf at 0, NaN below.
Value BesselY0(Call& c) {
  Value x = ResultOperand(c, 0), t = x * x * (1.0 / 32) - 1.0;
  Value small = Chebyshev(t, kY0Small) + log(x) * Chebyshev(t, kJ0Small) * kTwoOverPi;
  Value large = Oscillating(x, {0.25, kP0, kQ0});
  return where(x == 0.0, -INFINITY, where(x <= 8.0, small, large));
}

Value BesselY1(Call& c) {
  Value x = ResultOperand(c, 0), t = x * x * (1.0 / 32) - 1.0;
  Value small =
      Chebyshev(t, kY1Small) * x + (log(x) * Chebyshev(t, kJ1Small) * x - 1.0 / x) * kTwoOverPi;
  Value large = Oscillating(x, {0.75, kP1, kQ1});
  return where(x == 0.0, -INFINITY, where(x <= 8.0, small, large));
}

LOWER("aten::special_bessel_y0", BesselY0);
LOWER("aten::special_bessel_y1", BesselY1);

}  // namespace
}  // namespace torch_tpu::ops
