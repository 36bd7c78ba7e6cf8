// SPDX-License-Identifier: MIT
// The keys of a tokenizer after its tokens: merges, special ids, switches, templates, normalizer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "huggingface/import/keys/key_plan.hpp"
#include "huggingface/import/tokenizer/chat_templates.hpp"
#include "huggingface/import/tokenizer/tokenizer_files.hpp"
#include "ingot/error.hpp"

namespace ingot::huggingface {

/// The kinds of special tokens that most models have, in the order in which they are read.
[[nodiscard]] std::vector<std::string> usual_token_kinds();

/// The options for reading a block.
struct SpecialBlockOptions {
  std::vector<std::string> kinds = usual_token_kinds();
  std::optional<std::size_t> token_count = std::nullopt;  ///< Ids from it on are left out.
  bool has_merges = false;
  bool as_reference = false;  ///< An empty list of merges is left out.
};

/// The block as the reference converter reads it from the files: ids and switches in the order in
/// which they were found; the first id of a kind stays, and the last switch.
class SpecialBlock {
 public:
  /// @param remarks  gets remarks about ids that are left out.
  [[nodiscard]] static Result<SpecialBlock> read(const TokenizerFiles& files,
                                                 SpecialBlockOptions options,
                                                 std::vector<Error>& remarks);

  /// Sets the id of a kind that has none.
  void offer(std::string_view kind, std::int64_t id);
  /// Sets the id of a kind, in its place if it has one.
  void replace(std::string_view kind, std::int64_t id);
  [[nodiscard]] bool has(std::string_view kind) const noexcept;
  [[nodiscard]] bool has_ids() const noexcept { return !ids_.empty(); }
  void drop_templates() { templates_ = {}; }
  void set_merges(std::vector<std::string> merges) { merges_ = std::move(merges); }

  void write(KeyPlan& keys) const;

 private:
  class Reader;

  std::vector<std::pair<std::string, std::uint32_t>> ids_;
  std::vector<std::pair<std::string, bool>> switches_;
  std::vector<std::string> merges_;
  bool has_empty_merges_ = false;  ///< The key is needed even so.
  ChatTemplates templates_;
  std::optional<bool> lowercase_;
  std::optional<bool> strip_accents_;
};

/// `model.merges` of tokenizer.json, or the lines of merges.txt: "left right".
[[nodiscard]] Result<std::vector<std::string>> read_merges(const TokenizerFiles& files);

}  // namespace ingot::huggingface
