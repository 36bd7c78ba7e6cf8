// SPDX-License-Identifier: MIT
#include <algorithm>

#include "ingot/chat.hpp"

namespace ingot {

ChatValue ChatValue::list(std::initializer_list<ChatValue> elements) {
  ChatValue value;
  value.content_ = List(elements);
  return value;
}

ChatValue ChatValue::object(std::initializer_list<Member> members) {
  ChatValue value;
  value.content_ = Object(members);
  return value;
}

ChatValue& ChatValue::add(ChatValue element) {
  if (kind() == Kind::none) content_ = List();
  if (auto* elements = std::get_if<List>(&content_)) elements->push_back(std::move(element));
  return *this;
}

ChatValue& ChatValue::add(std::string name, ChatValue value) {
  if (kind() == Kind::none) content_ = Object();
  if (auto* members = std::get_if<Object>(&content_)) {
    members->push_back({std::move(name), std::move(value)});
  }
  return *this;
}

const ChatValue* ChatValue::find(std::string_view name) const noexcept {
  const Object* all = members();
  if (all == nullptr) return nullptr;
  const auto member = std::find_if(all->rbegin(), all->rend(),
                                   [&](const Member& candidate) { return candidate.name == name; });
  return member == all->rend() ? nullptr : &member->value;
}

ChatValue chat_message(std::string_view role, ChatValue content) {
  return ChatValue::object({{"role", role}, {"content", std::move(content)}});
}

}  // namespace ingot
