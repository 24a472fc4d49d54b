// A scanner for function signatures: brackets, tensor types and one attribute.
#include "pjrt/fake/fake_module.h"

#include <cstdlib>
#include <map>

namespace torch_tpu::pjrt::fake {
namespace {

struct Element {
  PJRT_Buffer_Type type;
  int64_t bytes;
};

const std::map<std::string, Element, std::less<>>& Elements() {
  static const auto* elements = new std::map<std::string, Element, std::less<>>{
      {"i1", {PJRT_Buffer_Type_PRED, 1}},
      {"i8", {PJRT_Buffer_Type_S8, 1}},
      {"i16", {PJRT_Buffer_Type_S16, 2}},
      {"i32", {PJRT_Buffer_Type_S32, 4}},
      {"i64", {PJRT_Buffer_Type_S64, 8}},
      {"ui8", {PJRT_Buffer_Type_U8, 1}},
      {"ui16", {PJRT_Buffer_Type_U16, 2}},
      {"ui32", {PJRT_Buffer_Type_U32, 4}},
      {"ui64", {PJRT_Buffer_Type_U64, 8}},
      {"f16", {PJRT_Buffer_Type_F16, 2}},
      {"bf16", {PJRT_Buffer_Type_BF16, 2}},
      {"f32", {PJRT_Buffer_Type_F32, 4}},
      {"f64", {PJRT_Buffer_Type_F64, 8}},
      {"complex<f32>", {PJRT_Buffer_Type_C64, 8}},
      {"complex<f64>", {PJRT_Buffer_Type_C128, 16}},
      {"f8E4M3FN", {PJRT_Buffer_Type_F8E4M3FN, 1}},
      {"f8E5M2", {PJRT_Buffer_Type_F8E5M2, 1}},
      {"f8E4M3FNUZ", {PJRT_Buffer_Type_F8E4M3FNUZ, 1}},
      {"f8E5M2FNUZ", {PJRT_Buffer_Type_F8E5M2FNUZ, 1}},
  };
  return *elements;
}

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// Position of the bracket that closes the one at `open`, or npos. Arrows and strings hold no
// brackets.
size_t CloseOf(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      i = text.find('"', i + 1);
      if (i == std::string_view::npos) return i;
    } else if (c == '-' && i + 1 < text.size() && text[i + 1] == '>') {
      ++i;
    } else if (c == '(' || c == '[' || c == '{' || c == '<') {
      ++depth;
    } else if ((c == ')' || c == ']' || c == '}' || c == '>') && --depth == 0) {
      return i;
    }
  }
  return std::string_view::npos;
}

// Splits at commas outside brackets and strings.
std::vector<std::string_view> SplitList(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{' || c == '<' || c == '"') {
      const size_t close = c == '"' ? text.find('"', i + 1) : CloseOf(text, i);
      if (close == std::string_view::npos) break;
      i = close;
    } else if (c == ',') {
      parts.push_back(Trim(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  if (!Trim(text.substr(begin)).empty()) parts.push_back(Trim(text.substr(begin)));
  return parts;
}

// Replaces the i-th "?" of `dims` by the bound in "#stablehlo.bounds<16, ?>" or "bounds = [16, ?]".
bool ApplyBounds(std::string_view encoding, std::vector<int64_t>* dims) {
  const size_t word = encoding.find("bounds");
  const size_t open = encoding.find_first_of("<[", word == std::string_view::npos ? 0 : word);
  if (word == std::string_view::npos || open == std::string_view::npos) return false;
  const size_t close = CloseOf(encoding, open);
  if (close == std::string_view::npos) return false;
  const auto bounds = SplitList(encoding.substr(open + 1, close - open - 1));
  if (bounds.size() != dims->size()) return false;
  for (size_t i = 0; i < bounds.size(); ++i) {
    if ((*dims)[i] < 0) (*dims)[i] = std::atoll(std::string(bounds[i]).c_str());
  }
  return true;
}

// "tensor<2x3xf32>", possibly followed by attributes.
bool ParseType(std::string_view text, Type* type) {
  static constexpr std::string_view kTensor = "tensor<";
  if (text.substr(0, kTensor.size()) != kTensor) return false;
  const size_t close = CloseOf(text, kTensor.size() - 1);
  if (close == std::string_view::npos) return false;
  const auto parts = SplitList(text.substr(kTensor.size(), close - kTensor.size()));
  if (parts.empty()) return false;

  std::string_view rest = parts[0];
  bool dynamic = false;
  while (!rest.empty() && (rest[0] == '?' || (rest[0] >= '0' && rest[0] <= '9'))) {
    const size_t x = rest.find('x');
    if (x == std::string_view::npos) return false;
    dynamic = dynamic || rest[0] == '?';
    type->dims.push_back(rest[0] == '?' ? -1 : std::atoll(std::string(rest.substr(0, x)).c_str()));
    rest.remove_prefix(x + 1);
  }
  const auto element = Elements().find(rest);
  if (element == Elements().end()) return false;
  type->element = element->second.type;
  return !dynamic || (parts.size() > 1 && ApplyBounds(parts[1], &type->dims));
}

// "%arg0: tensor<...> {tf.aliasing_output = 0 : i32}"
bool ParseArgument(std::string_view text, Argument* argument) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  if (!ParseType(Trim(text.substr(colon + 1)), &argument->type)) return false;
  static constexpr std::string_view kAlias = "tf.aliasing_output";
  const size_t alias = text.find(kAlias);
  if (alias != std::string_view::npos) {
    const size_t equals = text.find('=', alias);
    if (equals == std::string_view::npos) return false;
    argument->aliased_output = std::atoi(std::string(text.substr(equals + 1)).c_str());
  }
  return true;
}

bool ParseResults(std::string_view after_arguments, std::vector<Type>* results) {
  std::string_view rest = Trim(after_arguments);
  if (rest.substr(0, 2) != "->") return true;
  rest = Trim(rest.substr(2));
  std::vector<std::string_view> parts = {rest};
  if (!rest.empty() && rest[0] == '(') {
    const size_t close = CloseOf(rest, 0);
    if (close == std::string_view::npos) return false;
    parts = SplitList(rest.substr(1, close - 1));
  }
  for (std::string_view part : parts) {
    Type type;
    if (!ParseType(part, &type)) return false;
    results->push_back(std::move(type));
  }
  return true;
}

}  // namespace

int64_t Type::bytes() const {
  int64_t size = 0;
  for (const auto& [name, each] : Elements()) {
    if (each.type == element) size = each.bytes;
  }
  for (int64_t dim : dims) size *= dim;
  return size;
}

std::string Type::ToString() const {
  std::string text = "type " + std::to_string(element) + " [";
  for (size_t i = 0; i < dims.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

bool ParseSignature(std::string_view module, Signature* signature, std::string* problem) {
  size_t name = module.find("func.func @main");
  if (name == std::string_view::npos) name = module.find("func.func public @main");
  const size_t open = name == std::string_view::npos ? name : module.find('(', name);
  const size_t close = open == std::string_view::npos ? open : CloseOf(module, open);
  if (close == std::string_view::npos) {
    *problem = "the module has no entry function func.func public @main(...)";
    return false;
  }
  for (std::string_view part : SplitList(module.substr(open + 1, close - open - 1))) {
    Argument argument;
    if (!ParseArgument(part, &argument)) {
      *problem = "cannot read the argument '" + std::string(part) + "' of @main";
      return false;
    }
    signature->arguments.push_back(std::move(argument));
  }
  if (!ParseResults(module.substr(close + 1), &signature->results)) {
    *problem = "cannot read the results of @main";
    return false;
  }
  for (const Argument& argument : signature->arguments) {
    const int output = argument.aliased_output;
    if (output < 0) continue;
    if (static_cast<size_t>(output) >= signature->results.size() ||
        signature->results[output] != argument.type) {
      *problem = "tf.aliasing_output = " + std::to_string(output) + " needs an output of " +
                 argument.type.ToString();
      return false;
    }
  }
  return true;
}

}  // namespace torch_tpu::pjrt::fake
