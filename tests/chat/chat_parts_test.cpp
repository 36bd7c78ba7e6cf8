// SPDX-License-Identifier: MIT
// Lists of parts as texts.
#include <gtest/gtest.h>

#include <ingot/chat.hpp>
#include <string>

namespace ingot {
namespace {

ChatValue part(const char* type, const char* text = nullptr) {
  ChatValue value = ChatValue::object({{"type", type}});
  if (text != nullptr) value.add("text", text);
  return value;
}

std::string content_of(const ChatValue& messages) {
  const ChatValue* list = messages.members() != nullptr ? messages.find("messages") : &messages;
  return *list->elements()->back().find("content")->string();
}

TEST(ChatParts, AreJoinedAsTheEngineDoes) {
  const ChatValue parts = ChatValue::list(
      {part("text", "Look:"), part("image_url"), part("text", "and"), part("text", "hear"),
       part("input_audio"), part("video"), part("reasoning", "left out"), part("text", "!")});
  const ChatValue messages =
      ChatValue::list({chat_message("system", "Be brief."), chat_message("user", parts)});
  EXPECT_TRUE(has_parts(messages));
  const std::string joined = "Look:<__media__>and\nhear<__media__><__media__>!";
  EXPECT_EQ(content_of(join_parts(messages)), joined);
  EXPECT_EQ(*join_parts(messages).elements()->front().find("content")->string(), "Be brief.");
  // An object of variables has its messages joined, and keeps the rest.
  const ChatValue variables = ChatValue::object({{"messages", messages}, {"x", 1}});
  EXPECT_TRUE(has_parts(variables));
  EXPECT_EQ(content_of(join_parts(variables)), joined);
  EXPECT_EQ(*join_parts(variables).find("x")->integer(), 1);
}

TEST(ChatParts, LeaveEverythingElseAsItIs) {
  const ChatValue messages = ChatValue::list({chat_message("user", "Hi"), ChatValue("odd")});
  EXPECT_FALSE(has_parts(messages));
  EXPECT_FALSE(has_parts(ChatValue("text")));
  EXPECT_FALSE(has_parts(ChatValue::object({{"x", 1}})));
  EXPECT_EQ(join_parts(messages).elements()->size(), 2u);
  const ChatValue strings = ChatValue::list({"a", "b", 3});
  EXPECT_EQ(content_of(join_parts(ChatValue::list({chat_message("user", strings)}))), "a\nb");
}

}  // namespace
}  // namespace ingot
