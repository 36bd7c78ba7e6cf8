// SPDX-License-Identifier: MIT
#include "chat/compile/name_table.hpp"

#include "chat/builtins/builtins.hpp"

namespace ingot::chat {

const Name* NameTable::intern(std::string_view text, Arena& arena) {
  const auto [place, is_new] = by_text_.try_emplace(text, nullptr);
  if (!is_new) return place->second;
  Name* name = arena.make<Name>();
  name->text = text;
  name->id = static_cast<std::uint32_t>(names_.size());
  for (std::size_t owner = 0; owner < owner_count; ++owner) {
    name->methods[owner] = find_builtin(methods_of(static_cast<Owner>(owner)), text);
  }
  name->global = find_builtin(globals(), text);
  name->global_function.builtin = name->global;
  place->second = name;
  names_.push_back(name);
  return name;
}

const Name* NameTable::find(std::string_view text) const {
  const auto place = by_text_.find(text);
  return place == by_text_.end() ? nullptr : place->second;
}

}  // namespace ingot::chat
