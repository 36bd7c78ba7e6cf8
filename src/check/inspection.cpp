// SPDX-License-Identifier: MIT
#include "check/inspection.hpp"

#include <algorithm>

#include "ingot/digest.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/text.hpp"

namespace ingot::check {
namespace {

Result<Vocabulary> make_vocabulary(const Model& model, const Result<Tokenizer>& tokenizer) {
  if (tokenizer) return Vocabulary(*tokenizer);
  if (tokenizer.error().code == Errc::pre_tokenizer_unknown) return Vocabulary::make(model);
  return fail(tokenizer.error());
}

}  // namespace

Inspection::Inspection(const Model& model, const CheckOptions& options, const FindingSink& sink)
    : model_(model), options_(options), sink_(sink), summary_(summarize(model)) {
  for (const TensorInfo& tensor : model.tensors()) {
    if (const auto name = parse_layer_name(tensor.name)) {
      layer_count_ = std::max<std::uint64_t>(layer_count_, name->layer + 1);
    }
  }
}

std::string_view Inspection::architecture() const noexcept {
  return summary_.architecture.value_or(std::string_view{});
}

bool Inspection::is_model() const {
  const Value* type = model_.find(keys::general_type);
  return type == nullptr || type->get<std::string_view>().value_or("") == "model";
}

const Architecture* Inspection::row() const {
  const Architecture* found = find_architecture(architecture());
  if (found == nullptr) return nullptr;
  if (found->file_kind == "model") {
    return is_model() && !model_.tensors().empty() ? found : nullptr;
  }
  // Projectors of older converters do not say what they are.
  const Value* type = model_.find(keys::general_type);
  const bool is_such =
      type == nullptr || type->get<std::string_view>().value_or("") == found->file_kind;
  return is_such ? found : nullptr;
}

std::string Inspection::own_key(std::string_view suffix) const {
  return std::string(architecture()) + "." + std::string(suffix);
}

std::optional<std::uint64_t> Inspection::own_number(std::string_view suffix) const {
  const Result<std::uint64_t> number = model_.get<std::uint64_t>(own_key(suffix));
  return number ? std::optional(*number) : std::nullopt;
}

const Result<Tokenizer>& Inspection::made_tokenizer() {
  if (!tokenizer_) tokenizer_.emplace(Tokenizer::make(model_));
  return *tokenizer_;
}

const Tokenizer* Inspection::tokenizer() {
  const Result<Tokenizer>& made = made_tokenizer();
  return made ? &*made : nullptr;
}

const Vocabulary* Inspection::vocabulary() {
  if (!vocabulary_) vocabulary_.emplace(make_vocabulary(model_, made_tokenizer()));
  return *vocabulary_ ? &**vocabulary_ : nullptr;
}

std::optional<Error> Inspection::vocabulary_error() {
  return vocabulary() == nullptr ? std::optional(vocabulary_->error()) : std::nullopt;
}

const std::vector<TemplateFacts>& Inspection::templates() {
  if (!templates_) templates_ = read_templates(model_);
  return *templates_;
}

const std::optional<CheckedPair>& Inspection::pair() {
  if (!pair_ && projector() != nullptr) pair_ = {pair_facts(model_), pair_facts(*projector())};
  return pair_;
}

void Inspection::emit(Finding finding) {
  finding.rule = rule_;
  counts_.count(finding);
  sink_(finding);
}

void Inspection::report(const Place& place, std::string message) {
  ++rule_findings_;
  if (options_.max_findings_per_rule != 0 && rule_findings_ > options_.max_findings_per_rule) {
    return;
  }
  Finding finding;
  finding.message = std::move(message);
  // Data without bytes may have its place beyond the end of the file, after a wide padding.
  if (place.file_offset <= model_.files()[place.file].file_bytes) {
    finding.file_offset = place.file_offset;
  }
  // Of a model of another format only data has a place in its files.
  const std::optional<Origin> origin = finding.file_offset != Error::no_offset
                                           ? model_.origin(place.file, finding.file_offset)
                                           : std::nullopt;
  finding.file_offset = origin ? origin->file_offset : Error::no_offset;
  finding.key = place.key;
  finding.tensor = place.tensor;
  if (options_.with_value_digests && !place.key.empty()) {
    const Value* value = place.value != nullptr ? place.value : model_.find(place.key);
    if (value != nullptr) finding.value_digest = digest_of(DigestAlgorithm::sha256, value->bytes());
  }
  if (model_.files().size() > 1) finding.file = model_.files()[place.file].path;
  emit(std::move(finding));
}

void Inspection::report_key(const KeyValue& entry, std::string message, std::size_t file) {
  report({.file_offset = entry.value.file_offset(),
          .key = entry.key,
          .file = file,
          .value = &entry.value},
         std::move(message));
}

void Inspection::report_key(std::string_view key, std::string message) {
  const Value* value = model_.find(key);
  report({.file_offset = value == nullptr ? Error::no_offset : value->file_offset(), .key = key},
         std::move(message));
}

void Inspection::report_tensor(const TensorInfo& tensor, std::string message) {
  report({.file_offset = model_.file_offset(tensor), .tensor = tensor.name, .file = tensor.shard},
         std::move(message));
}

void Inspection::run(const CheckRule& rule, void (*function)(Inspection&)) {
  if (failure_) return;
  rule_ = &rule;
  rule_findings_ = 0;
  function(*this);
  if (options_.max_findings_per_rule != 0 && rule_findings_ > options_.max_findings_per_rule) {
    Finding rest;
    rest.message = format_digits(rule_findings_ - options_.max_findings_per_rule) +
                   " more findings of this rule";
    emit(std::move(rest));
  }
}

void Inspection::keep_failure(Error error) {
  if (!failure_) failure_ = std::move(error);
}

}  // namespace ingot::check
