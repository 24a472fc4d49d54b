// Text of windows, dimension numbers, replica groups and other attributes of HLO instructions.
// Field numbers are those of xla/service/hlo.proto and xla/xla_data.proto.
#include "aot/hlo_attributes.h"

#include <utility>

#include "aot/text.h"

namespace torch_tpu::aot {
namespace {

using Labels = std::initializer_list<std::pair<int, const char*>>;

// The repeated or single integer fields of a message as "a={1}, b={2}", in the order of `labels`.
std::string IntegerFields(std::string_view message, Labels labels) {
  std::map<int, std::vector<int64_t>> values;
  for (WireReader r(message); r.Next();) r.AppendTo(&values[r.field()]);
  std::string text;
  for (const auto& [field, label] : labels) {
    const auto found = values.find(field);
    if (found == values.end()) continue;
    AppendItem(&text, ", ", Cat({label, "=", Braced(found->second)}));
  }
  return text;
}

std::map<int, int64_t> Scalars(std::string_view message) {
  std::map<int, int64_t> values;
  for (WireReader r(message); r.Next();) values[r.field()] = r.number();
  return values;
}

int64_t Get(const std::map<int, int64_t>& values, int field, int64_t fallback) {
  const auto found = values.find(field);
  return found == values.end() ? fallback : found->second;
}

// Window: one part "3x3" of each property that differs from its default somewhere.
std::string WindowText(std::string_view message) {
  struct Property {
    int field;
    const char* label;
    int64_t usual;
  };
  constexpr Property kProperties[] = {{1, "size", -1},
                                      {2, "stride", 1},
                                      {6, "lhs_dilate", 1},
                                      {5, "rhs_dilate", 1},
                                      {7, "rhs_reversal", 0}};
  std::vector<std::map<int, int64_t>> dims;
  for (WireReader r(message); r.Next();) {
    if (r.field() == 1) dims.push_back(Scalars(r.bytes()));
  }
  const auto by_dim = [&](const std::string& label, const auto& text_of, const auto& is_unusual) {
    bool unusual = false;
    std::string text;
    for (const auto& dim : dims) {
      AppendItem(&text, "x", text_of(dim));
      unusual = unusual || is_unusual(dim);
    }
    return unusual ? Cat({" ", label, "=", text}) : std::string();
  };
  std::string text;
  for (const Property& p : kProperties) {
    const int64_t unset = p.field == 1 ? 0 : p.usual;
    text += by_dim(
        p.label, [&](const auto& d) { return std::to_string(Get(d, p.field, unset)); },
        [&](const auto& d) { return Get(d, p.field, unset) != p.usual; });
    if (p.field == 2) {
      text += by_dim(
          "pad",
          [](const auto& d) {
            return std::to_string(Get(d, 3, 0)) + "_" + std::to_string(Get(d, 4, 0));
          },
          [](const auto& d) { return Get(d, 3, 0) != 0 || Get(d, 4, 0) != 0; });
    }
  }
  return text.empty() ? text : Cat({"window={", text.substr(1), "}"});
}

// "dim_labels=b01f_01io->b01f"
std::string ConvolutionLabels(std::string_view message) {
  std::map<int, std::vector<int64_t>> values;
  for (WireReader r(message); r.Next();) r.AppendTo(&values[r.field()]);
  const auto labels = [&](int first, char first_label, int second, char second_label, int spatial) {
    const auto& places = values[spatial];
    std::string text(places.size() + 2, '?');
    const auto put = [&](int64_t place, char c) {
      if (place >= 0 && place < static_cast<int64_t>(text.size())) text[place] = c;
    };
    put(values[first].empty() ? 0 : values[first][0], first_label);
    put(values[second].empty() ? 0 : values[second][0], second_label);
    for (size_t i = 0; i < places.size(); ++i) put(places[i], static_cast<char>('0' + i));
    return text;
  };
  return Cat({"dim_labels=", labels(7, 'b', 8, 'f', 11), "_", labels(3, 'i', 4, 'o', 6), "->",
              labels(9, 'b', 10, 'f', 12)});
}

std::string PaddingText(std::string_view message) {
  std::string text;
  for (WireReader r(message); r.Next();) {
    const auto dim = Scalars(r.bytes());
    AppendItem(&text, "x",
               Cat({std::to_string(Get(dim, 1, 0)), "_", std::to_string(Get(dim, 2, 0))}));
    if (Get(dim, 3, 0) != 0) text += Cat({"_", std::to_string(Get(dim, 3, 0))});
  }
  return Cat({"padding=", text});
}

std::string SliceText(std::string_view message) {
  const auto dim = Scalars(message);
  const std::string range =
      Cat({std::to_string(Get(dim, 1, 0)), ":", std::to_string(Get(dim, 2, 0))});
  if (Get(dim, 3, 1) == 1) return Cat({"[", range, "]"});
  return Cat({"[", range, ":", std::to_string(Get(dim, 3, 1)), "]"});
}

std::string GroupText(std::string_view message) {
  std::vector<int64_t> ids;
  for (WireReader r(message); r.Next();) {
    if (r.field() == 1) r.AppendTo(&ids);
  }
  return Braced(ids);
}

// CollectiveDeviceListProto: lists of ids, or "[2,4]<=[8]" for a reshaped range.
std::string DeviceListText(std::string_view message) {
  std::string groups;
  for (WireReader r(message); r.Next();) {
    if (r.field() == 1) AppendItem(&groups, ",", GroupText(r.bytes()));
    if (r.field() != 2) continue;
    std::map<int, std::vector<int64_t>> iota;
    for (WireReader i(r.bytes()); i.Next();) i.AppendTo(&iota[i.field()]);
    std::vector<int64_t> sizes = iota[1];
    sizes.insert(sizes.end(), iota[2].begin(), iota[2].end());
    const auto bracketed = [](const std::vector<int64_t>& list) {
      const std::string braced = Braced(list);
      return Cat({"[", braced.substr(1, braced.size() - 2), "]"});
    };
    const std::string text = Cat({bracketed(sizes), "<=", bracketed(iota[3])});
    if (iota[4].size() < 2) return text;
    const std::string order = Braced(iota[4]);
    return Cat({text, "T(", order.substr(1, order.size() - 2), ")"});
  }
  return Cat({"{", groups, "}"});
}

// FrontendAttributes: a map from string to string.
std::string FrontendText(std::string_view message) {
  std::string text;
  for (WireReader r(message); r.Next();) {
    std::string key;
    std::string value;
    for (WireReader e(r.bytes()); e.Next();) (e.field() == 1 ? key : value) = e.text();
    AppendItem(&text, ",", Cat({key, "=\"", value, "\""}));
  }
  return text.empty() ? text : Cat({"frontend_attributes={", text, "}"});
}

// Appends "part" to the attribute `label` with this opening, making it when it is not there yet.
void Extend(std::vector<std::string>* attributes, const std::string& label,
            const std::string& part) {
  for (std::string& attribute : *attributes) {
    if (attribute.rfind(label + "={", 0) != 0) continue;
    attribute.insert(attribute.size() - 1, Cat({",", part}));
    return;
  }
  attributes->push_back(Cat({label, "={", part, "}"}));
}

void AddMessage(const WireReader& f, HloInstruction* instruction) {
  auto* list = &instruction->attributes;
  const auto add = [list](std::string text) {
    if (!text.empty()) list->push_back(std::move(text));
  };
  switch (f.field()) {
    case 15:
      return add(WindowText(f.bytes()));
    case 16:
      return add(ConvolutionLabels(f.bytes()));
    case 17:
      return Extend(list, "slice", SliceText(f.bytes()));
    case 21:
      return add(PaddingText(f.bytes()));
    case 30:
      return add(IntegerFields(f.bytes(), {{3, "lhs_batch_dims"},
                                           {1, "lhs_contracting_dims"},
                                           {4, "rhs_batch_dims"},
                                           {2, "rhs_contracting_dims"}}));
    case 33:
      return add(IntegerFields(f.bytes(), {{1, "offset_dims"},
                                           {2, "collapsed_slice_dims"},
                                           {3, "start_index_map"},
                                           {5, "operand_batching_dims"},
                                           {6, "start_indices_batching_dims"},
                                           {4, "index_vector_dim"}}));
    case 48:
      return add(IntegerFields(f.bytes(), {{1, "update_window_dims"},
                                           {2, "inserted_window_dims"},
                                           {3, "scatter_dims_to_operand_dims"},
                                           {5, "input_batching_dims"},
                                           {6, "scatter_indices_batching_dims"},
                                           {4, "index_vector_dim"}}));
    case 52:
      return Extend(list, "source_target_pairs",
                    Cat({"{", std::to_string(Get(Scalars(f.bytes()), 1, 0)), ",",
                         std::to_string(Get(Scalars(f.bytes()), 2, 0)), "}"}));
    case 59:
      return add(IntegerFields(f.bytes(), {{1, "left_side"}, {2, "lower"}, {3, "unit_diagonal"}}));
    case 68:
      return add(FrontendText(f.bytes()));
    default:
      return;
  }
}

}  // namespace

std::string Braced(const std::vector<int64_t>& numbers) {
  std::string text;
  for (int64_t n : numbers) AppendItem(&text, ",", std::to_string(n));
  return Cat({"{", text, "}"});
}

void AddAttribute(const WireReader& f, HloInstruction* instruction) {
  static const std::map<int, const char*> kNumbers = {{18, "exponent_bits"},
                                                      {19, "mantissa_bits"},
                                                      {25, "feature_index"},
                                                      {26, "channel_id"},
                                                      {50, "feature_group_count"},
                                                      {58, "batch_group_count"},
                                                      {60, "is_stable"},
                                                      {65, "custom_call_has_side_effect"},
                                                      {67, "indices_are_sorted"},
                                                      {69, "unique_indices"},
                                                      {71, "use_global_device_ids"},
                                                      {81, "k"},
                                                      {85, "largest"}};
  static const std::map<int, const char*> kLists = {
      {14, "dimensions"}, {20, "dynamic_slice_sizes"}, {32, "fft_length"}, {34, "slice_sizes"}};
  static const std::map<int, const char*> kWords = {{63, "direction"}, {72, "comparison_type"}};
  auto* list = &instruction->attributes;
  if (const auto number = kNumbers.find(f.field()); number != kNumbers.end()) {
    const bool usual =
        f.number() == 0 || (number->first == 50 || number->first == 58 ? f.number() == 1 : false);
    if (!usual) list->push_back(Cat({number->second, "=", std::to_string(f.number())}));
  } else if (const auto ints = kLists.find(f.field()); ints != kLists.end()) {
    std::vector<int64_t> numbers;
    f.AppendTo(&numbers);
    for (int64_t n : numbers) Extend(list, ints->second, std::to_string(n));
  } else if (const auto word = kWords.find(f.field()); word != kWords.end()) {
    if (!f.bytes().empty()) list->push_back(Cat({word->second, "=", f.bytes()}));
  } else if (f.field() == 49) {
    const std::string group = GroupText(f.bytes());
    std::string& groups = instruction->replica_groups;
    groups = groups.empty() ? Cat({"{", group, "}"})
                            : Cat({groups.substr(0, groups.size() - 1), ",", group, "}"});
  } else if (f.field() == 87) {
    instruction->replica_groups = DeviceListText(f.bytes());
  } else {
    AddMessage(f, instruction);
  }
}

}  // namespace torch_tpu::aot
