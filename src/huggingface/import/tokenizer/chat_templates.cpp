// SPDX-License-Identifier: MIT
#include "huggingface/import/tokenizer/chat_templates.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::huggingface {
namespace {

constexpr std::string_view jinja_file = "chat_template.jinja";
constexpr std::string_view json_file = "chat_template.json";
constexpr std::string_view more_folder = "additional_chat_templates";
constexpr std::string_view jinja_ending = ".jinja";
constexpr std::string_view default_name = "default";

/// A name in a key: ASCII letters and digits.
std::string key_name(std::string_view name) {
  std::string plain;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    // The reference replaces characters, not bytes.
    if ((static_cast<unsigned char>(c) & 0xC0u) == 0x80) continue;
    plain += is_letter_or_digit(c) ? c : '_';
  }
  return plain;
}

ChatTemplates from_value(JsonView value, const std::string& file) {
  ChatTemplates result;
  if (value.is_text()) {
    result.templates.push_back({std::string(default_name), std::string(value.text()), file});
  }
  for (const JsonView choice : value.elements()) {
    if (choice["template"].is_text()) {
      result.templates.push_back(
          {key_name(choice["name"].text()), std::string(choice["template"].text()), file});
    }
  }
  return result;
}

Result<ChatTemplates> from_jinja_files(const ModelFolder& folder) {
  ChatTemplates result;
  INGOT_TRY(const std::string text, folder.read_text(jinja_file));
  result.templates.push_back(
      {std::string(default_name), with_line_feeds(text), std::string(jinja_file)});
  for (const std::string& file : folder.files_in(more_folder)) {
    if (!file.ends_with(jinja_ending)) continue;
    const std::string path = std::string(more_folder) + "/" + file;
    INGOT_TRY(const std::string more, folder.read_text(path));
    const std::string_view name =
        std::string_view(file).substr(0, file.size() - jinja_ending.size());
    result.templates.push_back({key_name(name), with_line_feeds(more), path});
  }
  return result;
}

}  // namespace

Result<ChatTemplates> ChatTemplates::read(const TokenizerFiles& files) {
  const JsonView own = files.tokenizer_config.root()["chat_template"];
  // A null there means that there is none.
  if (own.exists()) return from_value(own, std::string(file_names::tokenizer_config));
  if (files.folder->has(jinja_file)) return from_jinja_files(*files.folder);
  INGOT_TRY(const JsonTree tree, read_tree(*files.folder, json_file));
  return from_value(tree.root()["chat_template"], std::string(json_file));
}

Result<ChatTemplates> ChatTemplates::read_file(const ModelFolder& folder) {
  return folder.has(jinja_file) ? from_jinja_files(folder) : ChatTemplates();
}

void ChatTemplates::write(KeyPlan& keys) const {
  const Template* usual = nullptr;
  std::vector<std::string> names;
  for (const Template& choice : templates) {
    if (choice.name.empty() || choice.text.empty()) continue;
    if (choice.name == default_name) {
      usual = &choice;
      continue;
    }
    if (std::ranges::find(names, choice.name) == names.end()) {
      names.push_back(choice.name);
    }
    keys.from(choice.file);
    keys.set_string(std::string(keys::tokenizer_chat_template) + "." + choice.name, choice.text);
  }
  if (!names.empty()) {
    keys.set_array(keys::tokenizer_chat_templates, std::span<const std::string>(names));
  }
  if (usual == nullptr) return;
  keys.from(usual->file);
  keys.set_string(keys::tokenizer_chat_template, usual->text);
}

}  // namespace ingot::huggingface
