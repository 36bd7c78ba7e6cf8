// SPDX-License-Identifier: MIT
// The chat templates of a model folder.
#pragma once

#include <string>
#include <vector>

#include "huggingface/import/keys/key_plan.hpp"
#include "huggingface/import/tokenizer/tokenizer_files.hpp"
#include "ingot/error.hpp"

namespace ingot::huggingface {

/// One text, or several with names.
struct ChatTemplates {
  struct Template {
    std::string name;  ///< "default" for the usual one.
    std::string text;
    std::string file;  ///< The file that it comes from.
  };
  std::vector<Template> templates;

  /// Reads `chat_template` of tokenizer_config.json; where there is no such member, the files
  /// chat_template.jinja (with those of additional_chat_templates/) or chat_template.json.
  [[nodiscard]] static Result<ChatTemplates> read(const TokenizerFiles& files);

  /// Reads the file chat_template.jinja alone; nothing without it.
  [[nodiscard]] static Result<ChatTemplates> read_file(const ModelFolder& folder);

  void write(KeyPlan& keys) const;
};

}  // namespace ingot::huggingface
