// Putting texts together. GCC 12 warns falsely about `"literal" + std::string()`.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace torch_tpu::aot {

inline std::string Cat(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (std::string_view part : parts) text += part;
  return text;
}

// Appends `item`, after `separator` when the list has items already.
inline void AppendItem(std::string* list, std::string_view separator, std::string_view item) {
  if (!list->empty()) *list += separator;
  *list += item;
}

}  // namespace torch_tpu::aot
