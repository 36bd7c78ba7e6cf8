// SPDX-License-Identifier: MIT
// The chat templates of a model, read and tried once for all rules.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "ingot/chat_profile.hpp"
#include "ingot/model.hpp"

namespace ingot::check {

struct TemplateFacts {
  const KeyValue* entry = nullptr;
  std::size_t file = 0;
  /// Why it cannot be read; the rest is empty then.
  std::optional<Error> error;
  ChatProfile profile;
  std::vector<ChatRemark> remarks;
  std::vector<std::string> control_texts;
  std::vector<std::string> variables;  ///< Names that it reads and does not set.
};

/// At most eight templates: models have up to four, and each takes some milliseconds, a hostile one
/// a tenth of a second.
[[nodiscard]] std::vector<TemplateFacts> read_templates(const Model& model);

}  // namespace ingot::check
