// Products: dot_general and convolution.
#include "shlo/attributes.h"
#include "shlo/check.h"
#include "shlo/ops.h"

namespace torch_tpu::shlo {
namespace {

std::string PrecisionText(Precision precision) {
  constexpr std::string_view kNames[] = {"DEFAULT", "HIGH", "HIGHEST"};
  std::string one = EnumText("precision", kNames[static_cast<int>(precision)]);
  return "[" + one + ", " + one + "]";
}

std::string DotDimsText(const DotDims& d) {
  std::string out = "#stablehlo.dot<";
  if (!d.lhs_batch.empty()) {
    out += "lhs_batching_dimensions = " + ListText(d.lhs_batch);
    out += ", rhs_batching_dimensions = " + ListText(d.rhs_batch) + ", ";
  }
  out += "lhs_contracting_dimensions = " + ListText(d.lhs_contract);
  out += ", rhs_contracting_dimensions = " + ListText(d.rhs_contract);
  return out + ">";
}

Dims Joined(const Dims& a, const Dims& b) {
  Dims out = a;
  out.insert(out.end(), b.begin(), b.end());
  return out;
}

void CheckPairs(std::string_view op, std::string_view what, Value lhs, Value rhs, const Dims& a,
                const Dims& b) {
  bool fits = a.size() == b.size();
  for (size_t i = 0; fits && i < a.size(); ++i) fits = lhs.dims()[a[i]] == rhs.dims()[b[i]];
  if (!fits) {
    Fail(op, std::string(what) + " dimensions " + DimsToString(a) + " of " + lhs.type().ToString() +
                 " and " + DimsToString(b) + " of " + rhs.type().ToString() + " do not match");
  }
}

// Which letter or spatial number stands at each position of a convolution's operand.
std::string LayoutText(std::string_view op, int64_t first, char first_name, int64_t second,
                       char second_name, const Dims& spatial) {
  std::vector<std::string> names(spatial.size() + 2);
  CheckDistinctDims(op, "dimension numbers", Joined({first, second}, spatial),
                    static_cast<int64_t>(names.size()));
  names[first] = first_name;
  names[second] = second_name;
  for (size_t i = 0; i < spatial.size(); ++i) names[spatial[i]] = std::to_string(i);
  std::string out = "[";
  for (size_t i = 0; i < names.size(); ++i) out += (i > 0 ? ", " : "") + names[i];
  return out + "]";
}

std::string ConvDimsText(std::string_view op, const ConvDims& d) {
  return "#stablehlo.conv<" +
         LayoutText(op, d.input_batch, 'b', d.input_feature, 'f', d.input_spatial) + "x" +
         LayoutText(op, d.kernel_input_feature, 'i', d.kernel_output_feature, 'o',
                    d.kernel_spatial) +
         "->" + LayoutText(op, d.output_batch, 'b', d.output_feature, 'f', d.output_spatial) + ">";
}

void CheckWindow(std::string_view op, const ConvWindow& w, int64_t spatial) {
  CheckSize(op, "window_strides", w.strides, spatial);
  CheckSize(op, "low padding", w.padding_low, spatial);
  CheckSize(op, "high padding", w.padding_high, spatial);
  CheckSize(op, "lhs_dilation", w.lhs_dilation, spatial);
  CheckSize(op, "rhs_dilation", w.rhs_dilation, spatial);
  if (!w.reversal.empty() && static_cast<int64_t>(w.reversal.size()) != spatial) {
    Fail(op, "window_reversal must have " + std::to_string(spatial) + " entries or none");
  }
  for (int64_t i = 0; i < spatial; ++i) {
    if (w.strides[i] < 1 || w.lhs_dilation[i] < 1 || w.rhs_dilation[i] < 1) {
      Fail(op, "strides and dilations must be at least 1, got " + DimsToString(w.strides) + ", " +
                   DimsToString(w.lhs_dilation) + " and " + DimsToString(w.rhs_dilation));
    }
  }
}

void CheckGroups(std::string_view op, Value lhs, Value rhs, const ConvDims& d,
                 int64_t feature_groups, int64_t batch_groups) {
  int64_t features = lhs.dims()[d.input_feature], batch = lhs.dims()[d.input_batch];
  int64_t kernel_in = rhs.dims()[d.kernel_input_feature],
          kernel_out = rhs.dims()[d.kernel_output_feature];
  std::string got = ", got " + lhs.type().ToString() + " and kernel " + rhs.type().ToString();
  if (feature_groups < 1 || batch_groups < 1 || (feature_groups > 1 && batch_groups > 1)) {
    Fail(op, "one of feature and batch groups must be 1 and the other at least 1, got " +
                 std::to_string(feature_groups) + " and " + std::to_string(batch_groups));
  }
  if (features != kernel_in * feature_groups) {
    Fail(op, "input features must be kernel input features times " +
                 std::to_string(feature_groups) + got);
  }
  if (kernel_out % feature_groups != 0 || kernel_out % batch_groups != 0 ||
      batch % batch_groups != 0) {
    Fail(op, "kernel output features and batch must be divisible by the groups " +
                 std::to_string(feature_groups) + " and " + std::to_string(batch_groups) + got);
  }
}

TensorType ConvResult(std::string_view op, Value lhs, Value rhs, const ConvDims& d,
                      const ConvWindow& w, int64_t batch_groups) {
  TensorType result{lhs.dtype(), Dims(lhs.rank())};
  result.dims[d.output_batch] = lhs.dims()[d.input_batch] / batch_groups;
  result.dims[d.output_feature] = rhs.dims()[d.kernel_output_feature];
  for (size_t i = 0; i < d.input_spatial.size(); ++i) {
    int64_t size = lhs.dims()[d.input_spatial[i]], kernel = rhs.dims()[d.kernel_spatial[i]];
    int64_t padded =
        (size == 0 ? 0 : (size - 1) * w.lhs_dilation[i] + 1) + w.padding_low[i] + w.padding_high[i];
    int64_t window = kernel == 0 ? 0 : (kernel - 1) * w.rhs_dilation[i] + 1;
    if (padded < 0)
      Fail(op, "padding crops more than spatial dimension " + std::to_string(i) + " has");
    result.dims[d.output_spatial[i]] =
        padded < window || window == 0 ? 0 : (padded - window) / w.strides[i] + 1;
  }
  return result;
}

}  // namespace

Value dot_general(Value lhs, Value rhs, const DotDims& dims, Precision precision,
                  DType result_dtype) {
  constexpr std::string_view kOp = "stablehlo.dot_general";
  CheckSameDType(kOp, lhs, rhs);
  Dims lhs_used = Joined(dims.lhs_batch, dims.lhs_contract),
       rhs_used = Joined(dims.rhs_batch, dims.rhs_contract);
  CheckDistinctDims(kOp, "dimensions of lhs", lhs_used, lhs.rank());
  CheckDistinctDims(kOp, "dimensions of rhs", rhs_used, rhs.rank());
  CheckPairs(kOp, "batch", lhs, rhs, dims.lhs_batch, dims.rhs_batch);
  CheckPairs(kOp, "contracting", lhs, rhs, dims.lhs_contract, dims.rhs_contract);
  TensorType result{result_dtype == DType::kInvalid ? lhs.dtype() : result_dtype, {}};
  for (int64_t d : dims.lhs_batch) result.dims.push_back(lhs.dims()[d]);
  for (int64_t d = 0; d < lhs.rank(); ++d) {
    if (!Contains(lhs_used, d)) result.dims.push_back(lhs.dims()[d]);
  }
  for (int64_t d = 0; d < rhs.rank(); ++d) {
    if (!Contains(rhs_used, d)) result.dims.push_back(rhs.dims()[d]);
  }
  return lhs.builder().Emit1(kOp, {lhs, rhs},
                             {{"dot_dimension_numbers", DotDimsText(dims)},
                              {"precision_config", PrecisionText(precision)}},
                             std::move(result));
}

Value convolution(Value lhs, Value rhs, const ConvDims& dims, const ConvWindow& window,
                  int64_t feature_groups, int64_t batch_groups, Precision precision,
                  DType result_dtype) {
  constexpr std::string_view kOp = "stablehlo.convolution";
  CheckSameDType(kOp, lhs, rhs);
  int64_t spatial = static_cast<int64_t>(dims.input_spatial.size());
  if (lhs.rank() != spatial + 2 || rhs.rank() != spatial + 2) {
    Fail(kOp, "operands must have rank " + std::to_string(spatial + 2) + ", got " +
                  lhs.type().ToString() + " and " + rhs.type().ToString());
  }
  CheckSize(kOp, "kernel_spatial", dims.kernel_spatial, spatial);
  CheckSize(kOp, "output_spatial", dims.output_spatial, spatial);
  std::string dims_text = ConvDimsText(kOp, dims);
  CheckWindow(kOp, window, spatial);
  CheckGroups(kOp, lhs, rhs, dims, feature_groups, batch_groups);
  TensorType result = ConvResult(kOp, lhs, rhs, dims, window, batch_groups);
  if (result_dtype != DType::kInvalid) result.dtype = result_dtype;
  std::vector<bool> reversal = window.reversal;
  reversal.resize(spatial);
  return lhs.builder().Emit1(kOp, {lhs, rhs},
                             {{"window_strides", I64ArrayText(window.strides)},
                              {"padding", PaddingText(window.padding_low, window.padding_high)},
                              {"lhs_dilation", I64ArrayText(window.lhs_dilation)},
                              {"rhs_dilation", I64ArrayText(window.rhs_dilation)},
                              {"window_reversal", BoolArrayText(reversal)},
                              {"dimension_numbers", std::move(dims_text)},
                              {"feature_group_count", I64Text(feature_groups)},
                              {"batch_group_count", I64Text(batch_groups)},
                              {"precision_config", PrecisionText(precision)}},
                             std::move(result));
}

}  // namespace torch_tpu::shlo
