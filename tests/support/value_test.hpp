// SPDX-License-Identifier: MIT
// Values without a template: a heap of its own for each test.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "chat/values/operations.hpp"

namespace ingot::chat {

class ValueTest : public testing::Test {
 protected:
  /// A value of the caller; its texts live as long as the test.
  Value in(ChatValue value) { return import_value(heap(), inputs_.emplace_back(std::move(value))); }
  /// What repr() gives, or the reason of the first failure.
  std::string shown(const Value& value) {
    const Value text = value.failed() ? value : repr_of(heap(), value);
    return text.failed() ? reason() : std::string(text.text());
  }
  std::string reason() { return heap().failure() ? heap().failure()->reason : "no failure"; }

  /// Begins with the first use; from then on the limits stay as they are.
  Heap& heap() {
    if (!heap_) heap_.emplace(options_);
    return *heap_;
  }

  ChatOptions options_;

 private:
  std::deque<ChatValue> inputs_;
  std::optional<Heap> heap_;
};

}  // namespace ingot::chat
