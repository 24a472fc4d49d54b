// How `_foreach_*` operators are made of base operators.
//
// Nearly all follow from the name. `_foreach_name.Kind` applies aten::name to element i of every
// list; Kind says what the last tensor or number argument is. Where the base operator spells its
// overloads differently or has other arguments, a row of kExceptions says so.
#include "ops/foreach.h"

#include <charconv>

namespace torch_tpu::ops {
namespace {

struct Row {
  std::string_view overload;  // without "aten::_foreach_"
  std::string_view form;      // as ForeachForm::ToString writes it, without "aten::"
};

constexpr Row kExceptions[] = {
    // add.Scalar has an alpha that the foreach forms lack.
    {"add.Scalar", "add.Scalar(e0, s1, 1)"},
    {"add.ScalarList", "add.Scalar(e0, e1, 1)"},
    {"add.List", "add.Tensor(e0, e1, s2)"},
    {"add.Tensor", "add.Tensor(e0, s1, s2)"},
    {"sub.Scalar", "sub.Scalar(e0, s1, 1)"},
    {"sub.ScalarList", "sub.Scalar(e0, e1, 1)"},
    {"sub.List", "sub.Tensor(e0, e1, s2)"},
    // Extremes against a number are clamps.
    {"maximum.Scalar", "clamp_min(e0, s1)"},
    {"maximum.ScalarList", "clamp_min(e0, e1)"},
    {"maximum.List", "maximum(e0, e1)"},
    {"minimum.Scalar", "clamp_max(e0, s1)"},
    {"minimum.ScalarList", "clamp_max(e0, e1)"},
    {"minimum.List", "minimum(e0, e1)"},
    {"clamp_min.Scalar", "clamp_min(e0, s1)"},
    {"clamp_min.ScalarList", "clamp_min(e0, e1)"},
    {"clamp_max.Scalar", "clamp_max(e0, s1)"},
    {"clamp_max.ScalarList", "clamp_max(e0, e1)"},
    {"pow.List", "pow.Tensor_Tensor(e0, e1)"},
    {"pow.Scalar", "pow.Tensor_Scalar(e0, s1)"},
    {"pow.ScalarList", "pow.Tensor_Scalar(e0, e1)"},
    {"pow.ScalarAndTensor", "pow.Scalar(s0, e1)"},
    {"addcdiv.Scalar", "addcdiv(e0, e1, e2, s3)"},
    {"addcdiv.ScalarList", "addcdiv(e0, e1, e2, e3)"},
    {"addcdiv.Tensor", "addcdiv(e0, e1, e2, t3)"},
    {"addcmul.Scalar", "addcmul(e0, e1, e2, s3)"},
    {"addcmul.ScalarList", "addcmul(e0, e1, e2, e3)"},
    {"addcmul.Tensor", "addcmul(e0, e1, e2, t3)"},
    {"lerp.List", "lerp.Tensor(e0, e1, e2)"},
    {"lerp.Scalar", "lerp.Scalar(e0, e1, s2)"},
    {"lerp.ScalarList", "lerp.Scalar(e0, e1, e2)"},
    {"norm.Scalar", "linalg_vector_norm(e0, s1, None, false, s2)"},
    {"powsum.Scalar", "linalg__powsum(e0, s1, None, false, s2)"},
    {"clone", "clone(e0, s1)"},
    {"copy", "copy(e0, e1, s2)"},
    {"mm", "mm(e0, e1)"},
};

Result<ForeachArg> ParseArg(std::string_view text) {
  using Kind = ForeachArg::Kind;
  if (text == "None") return ForeachArg{};
  if (text == "false") return ForeachArg{Kind::kBool, -1, 0};
  if (text == "true") return ForeachArg{Kind::kBool, -1, 1};
  Kind kind = Kind::kNumber;
  if (text[0] == 'e') kind = Kind::kElement;
  if (text[0] == 's') kind = Kind::kShared;
  if (text[0] == 't') kind = Kind::kEntry;
  if (kind != Kind::kNumber) text.remove_prefix(1);
  int number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
    return Internal("foreach table: '" + std::string(text) + "' is no argument");
  }
  if (kind == Kind::kNumber) return ForeachArg{kind, -1, static_cast<double>(number)};
  return ForeachArg{kind, number, 0};
}

Result<ForeachForm> ParseForm(std::string_view text) {
  const size_t open = text.find('(');
  ForeachForm form{"aten::" + std::string(text.substr(0, open)), {}};
  text = text.substr(open + 1, text.size() - open - 2);
  while (!text.empty()) {
    const size_t comma = text.find(", ");
    ASSIGN_OR_RETURN(ForeachArg arg, ParseArg(text.substr(0, comma)));
    form.args.push_back(arg);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 2);
  }
  return form;
}

// Removes `suffix` from the end of `text` if it is there.
bool Strip(std::string_view* text, std::string_view suffix) {
  if (!text->ends_with(suffix)) return false;
  text->remove_suffix(suffix.size());
  return true;
}

// "add_.List" and "add.List_out" to "add.List".
std::string FunctionalName(std::string_view name) {
  const size_t dot = name.find('.');
  std::string_view base = name.substr(0, dot);
  std::string_view overload = dot == std::string_view::npos ? "" : name.substr(dot + 1);
  Strip(&base, "_");
  if (!Strip(&overload, "_out") && overload == "out") overload = "";
  return std::string(base) + (overload.empty() ? "" : ".") + std::string(overload);
}

// The form of a name that needs no exception; empty when there is no such kind.
std::string RegularForm(const std::string& name) {
  const size_t dot = name.find('.');
  const std::string base = name.substr(0, dot);
  if (dot == std::string::npos) return base + "(e0)";
  const std::string kind = name.substr(dot + 1);
  if (kind == "List") return base + ".Tensor(e0, e1)";
  if (kind == "Tensor") return base + ".Tensor(e0, s1)";
  if (kind == "Scalar") return base + ".Scalar(e0, s1)";
  if (kind == "ScalarList") return base + ".Scalar(e0, e1)";
  return "";
}

}  // namespace

std::string ForeachForm::ToString() const {
  std::string text = base + "(";
  for (size_t i = 0; i < args.size(); ++i) {
    const ForeachArg& a = args[i];
    if (i > 0) text += ", ";
    switch (a.kind) {
      case ForeachArg::kElement:
        text.append("e").append(std::to_string(a.position));
        break;
      case ForeachArg::kShared:
        text.append("s").append(std::to_string(a.position));
        break;
      case ForeachArg::kEntry:
        text.append("t").append(std::to_string(a.position));
        break;
      case ForeachArg::kNumber:
        text += std::to_string(static_cast<int>(a.value));
        break;
      case ForeachArg::kBool:
        text += a.value != 0 ? "true" : "false";
        break;
      case ForeachArg::kNone:
        text += "None";
        break;
    }
  }
  return text + ")";
}

Result<ForeachForm> ForeachOf(std::string_view overload) {
  constexpr std::string_view kPrefix = "aten::_foreach_";
  if (!overload.starts_with(kPrefix))
    return NotFound(std::string(overload) + " is no foreach operator");
  const std::string name = FunctionalName(overload.substr(kPrefix.size()));
  for (const Row& row : kExceptions) {
    if (row.overload == name) return ParseForm(row.form);
  }
  const std::string form = RegularForm(name);
  if (form.empty())
    return NotFound("no rule says what " + std::string(overload) + " applies to each element");
  return ParseForm(form);
}

}  // namespace torch_tpu::ops
