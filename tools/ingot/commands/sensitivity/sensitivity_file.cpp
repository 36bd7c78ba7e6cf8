// SPDX-License-Identifier: MIT
#include "commands/sensitivity/sensitivity_file.hpp"

#include <fmt/core.h>

#include <cmath>
#include <ingot/output_file.hpp>
#include <ingot/text.hpp>
#include <utility>

#include "commands/json_members.hpp"
#include "text/chat_json.hpp"
#include "text/report_file.hpp"
#include "text/whole_file.hpp"

namespace ingot::cli {
namespace {

constexpr std::string_view kind = "ingot sensitivity";

auto wrong(std::string message) { return tl::unexpected<std::string>(std::move(message)); }

/// A number that is finite and at least 0.
bool read_amount(const ChatValue& entry, std::string_view name, double& amount) {
  const std::optional<double> number = number_of(entry.find(name));
  if (!number || !std::isfinite(*number) || *number < 0.0) return false;
  amount = *number;
  return true;
}

tl::expected<TensorSensitivity, std::string> read_entry(const ChatValue& entry, std::size_t index) {
  TensorSensitivity tensor{.name = text_of(entry.find("name"))};
  if (tensor.name.empty()) return wrong(fmt::format("entry {} of \"tensors\" has no name", index));
  const char* missing = nullptr;
  if (!read_amount(entry, "kl", tensor.divergence)) missing = "kl";
  if (!read_amount(entry, "relative_error", tensor.relative_error)) missing = "relative_error";
  if (!read_amount(entry, "weighted_error", tensor.weighted_error)) missing = "weighted_error";
  if (missing == nullptr && !(tensor.relative_error > 0.0)) missing = "relative_error";
  if (missing != nullptr) {
    return wrong(fmt::format("\"{}\" has no valid \"{}\"", escape(tensor.name), missing));
  }
  tensor.divergence_error = number_of(entry.find("kl_error")).value_or(std::nan(""));
  return tensor;
}

}  // namespace

void write_sensitivity_json(JsonStream& json, const SensitivityFacts& facts) {
  const auto object = json.object();
  json.member("kind", kind);
  json.member("model", facts.model);
  json.member("text", facts.text);
  json.text_or_null("imatrix", facts.importance);
  json.member("chunk_count", facts.chunk_count);
  json.member("chunk_tokens", facts.chunk_tokens);
  json.member("complete", facts.is_complete);
  json.text_or_null("part", facts.part);
  json.text_or_null("basis", facts.basis);
  json.objects("tensors", facts.tensors,
               [&](const TensorSensitivity& tensor) { write_members(json, tensor); });
}

Result<void> write_sensitivity_file(const std::string& path, const SensitivityFacts& facts,
                                    bool replace) {
  INGOT_TRY(OutputFile file, OutputFile::create(path, replace));
  INGOT_TRY_VOID(print_to(file, [&](Output& out) {
    JsonStream json(out);
    write_sensitivity_json(json, facts);
  }));
  return file.commit();
}

tl::expected<SensitivityFacts, std::string> read_sensitivity_file(const std::string& path) {
  const Result<std::string> content = read_whole(path);
  if (!content) return wrong(content.error().message());
  const auto document = parse_chat_json(*content);
  if (!document) return wrong(document.error());
  if (text_of(document->find("kind")) != kind) {
    return wrong("this is no file of `ingot sensitivity`, whose \"kind\" is \"ingot sensitivity\"");
  }
  SensitivityFacts facts{.model = text_of(document->find("model")),
                         .text = text_of(document->find("text")),
                         .importance = text_of(document->find("imatrix")),
                         .chunk_count = count_of(document->find("chunk_count")),
                         .chunk_tokens = count_of(document->find("chunk_tokens")),
                         .part = text_of(document->find("part")),
                         .basis = text_of(document->find("basis"))};
  facts.is_complete = is_true(document->find("complete"));
  const ChatValue* tensors = document->find("tensors");
  if (tensors == nullptr || tensors->elements() == nullptr) {
    return wrong("it has no list \"tensors\"");
  }
  for (const ChatValue& entry : *tensors->elements()) {
    auto tensor = read_entry(entry, facts.tensors.size());
    if (!tensor) return wrong(tensor.error());
    facts.tensors.push_back(std::move(*tensor));
  }
  return facts;
}

}  // namespace ingot::cli
