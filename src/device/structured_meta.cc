// One row for each structured functional overload. A row that a PyTorch release dropped does not
// compile; one that it added is found by tests/integration/test_first_call.py. isin of a number
// and a tensor is left out: its C++ kernel gives one dimension of no elements instead of none.
#include "device/structured_meta.h"

#include <ATen/MetaFunctions.h>
#include <ATen/Operators.h>

#include <unordered_map>

namespace torch_tpu::device {
namespace {

struct Row {
  c10::OperatorName name;
  c10::KernelFunction kernel;
};

// Op is the overload, which names the type of the function among its namesakes.
template <class Op>
Row MakeRow(typename Op::schema* function) {
  return {c10::OperatorName(Op::name, Op::overload_name),
          c10::KernelFunction::makeFromUnboxedRuntimeFunction(function)};
}

#define ROW(op, function) MakeRow<at::_ops::op>(&at::meta::function)
#define SAME(op) ROW(op, op)

// clang-format off
std::vector<Row> Rows() { return {
    SAME(_addmm_activation), SAME(_linalg_det), SAME(_linalg_eigh), SAME(_linalg_slogdet),
    SAME(_linalg_solve_ex), SAME(_linalg_svd), SAME(_log_softmax), SAME(_log_softmax_backward_data),
    SAME(_softmax), SAME(_softmax_backward_data), SAME(acos), SAME(acosh),
    SAME(adaptive_max_pool2d), SAME(adaptive_max_pool2d_backward), SAME(adaptive_max_pool3d),
    SAME(adaptive_max_pool3d_backward), SAME(addcdiv), SAME(addcmul), SAME(addmm), SAME(addmv),
    SAME(all), SAME(amax), SAME(amin), SAME(aminmax), SAME(any), SAME(argmax), SAME(argmin),
    SAME(asin), SAME(asinh), SAME(atan), SAME(atan2), SAME(atanh), SAME(avg_pool2d),
    SAME(avg_pool2d_backward), SAME(avg_pool3d), SAME(avg_pool3d_backward), SAME(baddbmm),
    SAME(bitwise_not), SAME(bmm), SAME(cat), SAME(ceil), SAME(clamp), SAME(clamp_max),
    SAME(clamp_min), SAME(cos), SAME(cosh), SAME(cumprod), SAME(cumsum), SAME(digamma), SAME(elu),
    SAME(elu_backward), SAME(erf), SAME(erfc), SAME(erfinv), SAME(exp), SAME(exp2), SAME(expm1),
    SAME(floor), SAME(fmax), SAME(fmin), SAME(frac), SAME(fractional_max_pool2d), SAME(gather),
    SAME(gcd), SAME(gelu), SAME(gelu_backward), SAME(glu), SAME(hardshrink), SAME(hardsigmoid),
    SAME(hardsigmoid_backward), SAME(heaviside), SAME(hypot), SAME(i0), SAME(igamma), SAME(igammac),
    SAME(index_add), SAME(index_copy), SAME(index_reduce), SAME(isneginf), SAME(isposinf),
    SAME(lcm), SAME(leaky_relu), SAME(leaky_relu_backward), SAME(lgamma), SAME(linalg_cholesky_ex),
    SAME(linalg_cross), SAME(linalg_inv_ex), SAME(linalg_ldl_factor_ex), SAME(linalg_ldl_solve),
    SAME(linalg_lu), SAME(linalg_lu_factor_ex), SAME(linalg_lu_solve), SAME(linalg_qr),
    SAME(linalg_vector_norm), SAME(log), SAME(log10), SAME(log1p), SAME(log2), SAME(logaddexp),
    SAME(logaddexp2), SAME(logit_backward), SAME(lu_unpack), SAME(max_pool2d_with_indices),
    SAME(max_pool2d_with_indices_backward), SAME(maximum), SAME(minimum), SAME(mish), SAME(mm),
    SAME(mse_loss), SAME(neg), SAME(nextafter), SAME(polygamma), SAME(reciprocal), SAME(renorm),
    SAME(round), SAME(rsqrt), SAME(scatter_add), SAME(sgn), SAME(sigmoid), SAME(sigmoid_backward),
    SAME(sign), SAME(signbit), SAME(silu), SAME(sin), SAME(sinc), SAME(sinh), SAME(smooth_l1_loss),
    SAME(softplus), SAME(softplus_backward), SAME(softshrink), SAME(special_airy_ai),
    SAME(special_bessel_j0), SAME(special_bessel_j1), SAME(special_bessel_y0),
    SAME(special_bessel_y1), SAME(special_chebyshev_polynomial_t),
    SAME(special_chebyshev_polynomial_u), SAME(special_chebyshev_polynomial_v),
    SAME(special_chebyshev_polynomial_w), SAME(special_entr), SAME(special_erfcx),
    SAME(special_hermite_polynomial_h), SAME(special_hermite_polynomial_he), SAME(special_i0e),
    SAME(special_i1), SAME(special_i1e), SAME(special_laguerre_polynomial_l),
    SAME(special_legendre_polynomial_p), SAME(special_log_ndtr), SAME(special_modified_bessel_i0),
    SAME(special_modified_bessel_i1), SAME(special_modified_bessel_k0),
    SAME(special_modified_bessel_k1), SAME(special_ndtri), SAME(special_scaled_modified_bessel_k0),
    SAME(special_scaled_modified_bessel_k1), SAME(special_shifted_chebyshev_polynomial_t),
    SAME(special_shifted_chebyshev_polynomial_u), SAME(special_shifted_chebyshev_polynomial_v),
    SAME(special_shifted_chebyshev_polynomial_w), SAME(special_spherical_bessel_j0),
    SAME(special_xlog1py), SAME(special_zeta), SAME(sqrt), SAME(tan), SAME(tanh),
    SAME(tanh_backward), SAME(threshold), SAME(threshold_backward), SAME(triangular_solve),
    SAME(trunc),
    ROW(_upsample_bicubic2d_aa, _upsample_bicubic2d_aa_symint),
    ROW(_upsample_bilinear2d_aa, _upsample_bilinear2d_aa_symint),
    ROW(_upsample_bilinear2d_aa_backward, _upsample_bilinear2d_aa_backward_symint),
    ROW(_upsample_lanczos2d_aa, _upsample_lanczos2d_aa_symint),
    ROW(_upsample_lanczos2d_aa_backward, _upsample_lanczos2d_aa_backward_symint),
    ROW(_upsample_nearest_exact1d, _upsample_nearest_exact1d_symint),
    ROW(_upsample_nearest_exact2d, _upsample_nearest_exact2d_symint),
    ROW(_upsample_nearest_exact2d_backward, _upsample_nearest_exact2d_backward_symint),
    ROW(_upsample_nearest_exact3d, _upsample_nearest_exact3d_symint), ROW(add_Tensor, add),
    ROW(all_dim, all), ROW(all_dims, all), ROW(any_dim, any), ROW(any_dims, any),
    ROW(bitwise_and_Tensor, bitwise_and), ROW(bitwise_left_shift_Tensor, bitwise_left_shift),
    ROW(bitwise_or_Tensor, bitwise_or), ROW(bitwise_right_shift_Tensor, bitwise_right_shift),
    ROW(bitwise_xor_Tensor, bitwise_xor), ROW(clamp_Tensor, clamp),
    ROW(clamp_max_Tensor, clamp_max), ROW(clamp_min_Tensor, clamp_min),
    ROW(copysign_Tensor, copysign), ROW(div_Tensor, div), ROW(div_Tensor_mode, div),
    ROW(eq_Scalar, eq), ROW(eq_Tensor, eq), ROW(fmod_Tensor, fmod), ROW(ge_Scalar, ge),
    ROW(ge_Tensor, ge), ROW(gt_Scalar, gt), ROW(gt_Tensor, gt), ROW(index_Tensor, index),
    ROW(isin_Tensor_Scalar, isin), ROW(isin_Tensor_Tensor, isin),
    ROW(le_Scalar, le), ROW(le_Tensor, le), ROW(lerp_Scalar, lerp), ROW(lerp_Tensor, lerp),
    ROW(lt_Scalar, lt), ROW(lt_Tensor, lt), ROW(max_dim, max), ROW(mean_dim, mean),
    ROW(min_dim, min), ROW(mul_Tensor, mul), ROW(ne_Scalar, ne), ROW(ne_Tensor, ne),
    ROW(nll_loss_backward, nll_loss_backward_symint),
    ROW(nll_loss_forward, nll_loss_forward_symint), ROW(norm_ScalarOpt_dim, norm),
    ROW(norm_ScalarOpt_dim_dtype, norm), ROW(normal_Tensor_Tensor, normal),
    ROW(normal_Tensor_float, normal), ROW(normal_float_Tensor, normal), ROW(pow_Scalar, pow),
    ROW(pow_Tensor_Scalar, pow), ROW(pow_Tensor_Tensor, pow), ROW(prod_dim_int, prod),
    ROW(reflection_pad1d, reflection_pad1d_symint),
    ROW(reflection_pad1d_backward, reflection_pad1d_backward_symint),
    ROW(reflection_pad3d, reflection_pad3d_symint),
    ROW(reflection_pad3d_backward, reflection_pad3d_backward_symint),
    ROW(remainder_Tensor, remainder), ROW(replication_pad1d, replication_pad1d_symint),
    ROW(replication_pad1d_backward, replication_pad1d_backward_symint),
    ROW(replication_pad2d, replication_pad2d_symint),
    ROW(replication_pad3d, replication_pad3d_symint), ROW(round_decimals, round),
    ROW(scatter_reduce, scatter), ROW(scatter_src, scatter), ROW(scatter_value, scatter),
    ROW(scatter_value_reduce, scatter), ROW(scatter_reduce_two, scatter_reduce),
    ROW(sort_stable, sort), ROW(sub_Tensor, sub), ROW(sum_dim_IntList, sum), ROW(topk, topk_symint),
    ROW(tril, tril_symint), ROW(triu, triu_symint),
    ROW(upsample_bicubic2d, upsample_bicubic2d_symint),
    ROW(upsample_bilinear2d, upsample_bilinear2d_symint),
    ROW(upsample_linear1d, upsample_linear1d_symint),
    ROW(upsample_nearest1d, upsample_nearest1d_symint),
    ROW(upsample_nearest2d, upsample_nearest2d_symint),
    ROW(upsample_nearest2d_backward, upsample_nearest2d_backward_symint),
    ROW(upsample_nearest3d, upsample_nearest3d_symint),
    ROW(upsample_trilinear3d, upsample_trilinear3d_symint), ROW(xlogy_Tensor, xlogy),
}; }
// clang-format on

// Overloads that are not structured, by a structured one that gives the same type and layout and
// refuses the same dtypes.
at::Tensor Relu(const at::Tensor& self) { return at::meta::neg(self); }
at::Tensor Mean(const at::Tensor& self, std::optional<at::ScalarType> dtype) {
  return at::meta::mean(self, at::OptionalIntArrayRef(), /*keepdim=*/false, dtype);
}

std::vector<Row> StandIns() {
  return {MakeRow<at::_ops::relu>(&Relu), MakeRow<at::_ops::mean>(&Mean)};
}

}  // namespace

const c10::KernelFunction* FindStructuredMeta(const c10::OperatorName& name) {
  static const auto* kernels = [] {
    auto* map = new std::unordered_map<c10::OperatorName, c10::KernelFunction>();
    for (Row& row : StandIns()) map->emplace(std::move(row.name), std::move(row.kernel));
    for (Row& row : Rows()) map->emplace(std::move(row.name), std::move(row.kernel));
    return map;
  }();
  const auto found = kernels->find(name);
  return found == kernels->end() ? nullptr : &found->second;
}

}  // namespace torch_tpu::device
