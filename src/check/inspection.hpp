// SPDX-License-Identifier: MIT
// One run of the rules over one model: what rules look at, and where their findings go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingot/architectures.hpp"
#include "ingot/chat_profile.hpp"
#include "ingot/check.hpp"
#include "ingot/projectors.hpp"
#include "ingot/summary.hpp"
#include "ingot/tokenizer.hpp"

namespace ingot::check {

/// The findings of a read of all weights of a tensor.
struct TensorScan {
  const TensorInfo* tensor = nullptr;
  std::uint64_t bad_count = 0;         ///< Numbers or scales that are not finite.
  std::uint64_t first_bad_offset = 0;  ///< The distance from the start of the tensor's data.
  bool is_all_zero = false;            ///< Every byte; false for empty tensors.
  std::uint32_t levels_of_four = 0;    ///< Of the first blocks of Q4_0, those of 4 and -4,
  std::uint32_t levels_beside = 0;     ///< and those of 3, 5, -3 and -5.
  std::uint64_t digest[2] = {0, 0};    ///< The digest of the bytes: equal if the bytes are.
};

/// A chat template of a model, read and tried once for all rules.
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

/// A model and the projector that is to go with it.
struct CheckedPair {
  PairFacts model;
  PairFacts projector;
};

class Inspection {
 public:
  Inspection(const Model& model, const CheckOptions& options, const FindingSink& sink);

  // --- what rules look at
  [[nodiscard]] const Model& model() const noexcept { return model_; }
  [[nodiscard]] const Summary& summary() const noexcept { return summary_; }
  [[nodiscard]] bool has_data() const noexcept { return options_.with_data; }
  [[nodiscard]] bool is_foreign() const noexcept { return options_.is_foreign; }
  /// The source of the template that the model's default one should be; nothing if none is given.
  [[nodiscard]] const std::optional<std::string>& expected_template() const noexcept {
    return options_.chat_template;
  }
  /// The projector that is to go with the model; nullptr if none is given.
  [[nodiscard]] const Model* projector() const noexcept { return options_.projector; }
  /// What tells whether both belong together; nothing without a projector. Made when it is first
  /// asked for, as it reads all tokens.
  [[nodiscard]] const std::optional<CheckedPair>& pair();
  /// Empty if `architecture` is not there.
  [[nodiscard]] std::string_view architecture() const noexcept;
  /// `<architecture>.<suffix>`.
  [[nodiscard]] std::string own_key(std::string_view suffix) const;
  [[nodiscard]] std::optional<std::uint64_t> own_number(std::string_view suffix) const;
  /// Whether it is a whole model, and not an adapter, a projector or an importance matrix.
  [[nodiscard]] bool is_model() const;
  /// The row of the architecture, if the whole file is one that the row tells of: a model, or a
  /// projector. A vocabulary and an adapter are none.
  [[nodiscard]] const Architecture* row() const;
  /// Whether shards are missing, so that nothing can be said of tensors that are not there.
  [[nodiscard]] bool is_incomplete() const noexcept {
    return model_.files().size() < model_.shard_count();
  }
  /// Whether a tensor is named `blk.<number>....`: the model is more than a vocabulary.
  [[nodiscard]] bool has_layers() const noexcept { return layer_count_ != 0; }
  /// The highest N of `blk.N.` and one more; 0 without.
  [[nodiscard]] std::uint64_t layer_count() const noexcept { return layer_count_; }

  /// The vocabulary that texts are encoded with; nullptr if they cannot be, for other reasons than
  /// an unknown pre-tokenizer. Made when it is first asked for.
  [[nodiscard]] const Vocabulary* vocabulary();
  /// Why it cannot be used.
  [[nodiscard]] std::optional<Error> vocabulary_error();

  /// nullptr where texts cannot be encoded. Made when it is first asked for.
  [[nodiscard]] const Tokenizer* tokenizer();

  /// The chat templates, read and tried when they are first asked for.
  [[nodiscard]] const std::vector<TemplateFacts>& templates();

  /// Results of reading the weights, one for each tensor in their order; empty without data.
  std::vector<TensorScan> scans;
  /// Why the weights of the model cannot be read at all; empty if they can.
  std::string unreadable;

  // --- findings
  /// The key, tensor or shard that a finding is about.
  struct Place {
    std::uint64_t file_offset = Error::no_offset;
    std::string_view key = {};
    std::string_view tensor = {};
    std::size_t file = 0;
    const Value* value = nullptr;  ///< The value of `key`; without it, the model's.
  };
  /// Reports a finding of the rule that runs. `message` must be safe to print.
  void report(const Place& place, std::string message);
  void report_key(const KeyValue& entry, std::string message, std::size_t file = 0);
  /// About a key of the model by its name, at its value if the model has one.
  void report_key(std::string_view key, std::string message);
  void report_template(const TemplateFacts& facts, std::string message) {
    report_key(*facts.entry, std::move(message), facts.file);
  }
  void report_tensor(const TensorInfo& tensor, std::string message);
  void report_model(std::string message) { report({}, std::move(message)); }

  /// Runs one rule. The first error that a rule met ends the run; see `failure`.
  void run(const CheckRule& rule, void (*function)(Inspection&));
  [[nodiscard]] const CheckSummary& counts() const noexcept { return counts_; }

  /// Keeps the error of a read: the run ends with it.
  void keep_failure(Error error);
  [[nodiscard]] const std::optional<Error>& failure() const noexcept { return failure_; }

 private:
  void emit(Finding finding);
  [[nodiscard]] const Result<Tokenizer>& made_tokenizer();

  const Model& model_;
  const CheckOptions& options_;
  const FindingSink& sink_;
  Summary summary_;
  std::uint64_t layer_count_ = 0;
  std::optional<Result<Tokenizer>> tokenizer_;
  std::optional<Result<Vocabulary>> vocabulary_;
  std::optional<std::vector<TemplateFacts>> templates_;
  std::optional<CheckedPair> pair_;
  const CheckRule* rule_ = nullptr;
  std::uint64_t rule_findings_ = 0;
  CheckSummary counts_;
  std::optional<Error> failure_;
};

/// Calls use(key and value, file) for every key of every file.
template <class Use>
void for_each_key(const Inspection& inspection, const Use& use) {
  const auto files = inspection.model().files();
  for (std::size_t file = 0; file < files.size(); ++file) {
    for (const KeyValue& entry : files[file].metadata) use(entry, file);
  }
}

}  // namespace ingot::check
