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

namespace {

constexpr std::string_view media_words[] = {"image", "audio", "video", "media_marker"};

/// The list of messages itself, or that of an object of variables.
const ChatValue* list_of(const ChatValue& messages) {
  const ChatValue* list = messages.members() != nullptr ? messages.find("messages") : &messages;
  return list != nullptr && list->elements() != nullptr ? list : nullptr;
}

/// The text of a list of parts (to_json_oaicompat of common/chat.cpp).
std::string joined_text(const ChatValue::List& parts) {
  std::string text;
  bool follows_media = false;
  for (const ChatValue& part : parts) {
    const ChatValue* type = part.find("type");
    const std::string_view kind =
        type != nullptr && type->string() != nullptr ? *type->string() : std::string_view("text");
    const auto is_in = [&](std::string_view word) { return kind.find(word) != kind.npos; };
    if (std::ranges::any_of(media_words, is_in)) {
      text += media_marker;
      follows_media = true;
      continue;
    }
    const ChatValue* own = part.members() != nullptr ? part.find("text") : &part;
    if (kind != "text" || own == nullptr || own->string() == nullptr) continue;
    if (!text.empty() && !follows_media) text += '\n';
    text += *own->string();
    follows_media = false;
  }
  return text;
}

}  // namespace

bool has_parts(const ChatValue& messages) {
  const ChatValue* list = list_of(messages);
  return list != nullptr && std::ranges::any_of(*list->elements(), [](const ChatValue& message) {
           const ChatValue* content = message.find("content");
           return content != nullptr && content->elements() != nullptr;
         });
}

ChatValue join_parts(const ChatValue& messages) {
  const ChatValue* list = list_of(messages);
  if (list == nullptr) return messages;
  ChatValue joined = ChatValue::list();
  for (const ChatValue& message : *list->elements()) {
    const ChatValue* content = message.find("content");
    const bool is_list = content != nullptr && content->elements() != nullptr;
    if (!is_list) {
      joined.add(message);
      continue;
    }
    ChatValue changed = ChatValue::object();
    for (const ChatValue::Member& member : *message.members()) {
      const bool is_content = &member.value == content;
      changed.add(member.name,
                  is_content ? ChatValue(joined_text(*content->elements())) : member.value);
    }
    joined.add(std::move(changed));
  }
  if (list == &messages) return joined;
  ChatValue variables = messages;
  return std::move(variables.add("messages", std::move(joined)));
}

ChatValue chat_message(std::string_view role, ChatValue content) {
  return ChatValue::object({{"role", role}, {"content", std::move(content)}});
}

}  // namespace ingot
