// SPDX-License-Identifier: MIT
#include "commands/catalog/catalog_record.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <ingot/digest.hpp>
#include <ingot/model_digests.hpp>
#include <ingot/summary.hpp>
#include <ingot/text.hpp>
#include <span>
#include <string_view>
#include <utility>

#include "cli/interrupt.hpp"
#include "cli/json_stream.hpp"
#include "commands/check/check_report.hpp"
#include "system/system.hpp"
#include "text/model_facts.hpp"
#include "text/value_text.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

/// What the column `value` holds of a text or an array, bytes. Longer ones are told apart by their
/// digest.
constexpr std::size_t max_value_bytes = 1024;
constexpr std::size_t max_element_bytes = 256;
/// The longest text of the table `texts`: ten times the longest chat template that we know.
constexpr std::size_t max_kept_bytes = std::size_t{1} << 20;

Cell text_cell(const std::optional<std::string_view>& text) {
  return text ? Cell(std::string(*text)) : Cell();
}

std::string sha256(std::span<const std::byte> bytes) {
  return digest_of(DigestAlgorithm::sha256, bytes);
}

/// The beginning of a text, of at most so many bytes, that ends between two characters.
std::string_view beginning(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  while (max_bytes > 0 && (static_cast<unsigned char>(text[max_bytes]) & 0xc0) == 0x80) --max_bytes;
  return text.substr(0, max_bytes);
}

/// An array as JSON: all of it, or its first elements. `is_cut` is set if some are missing.
std::string array_text(const Array& array, bool& is_cut) {
  std::string text;
  Output out([&](std::string_view piece) {
    text += piece;
    return 0;
  });
  JsonStream json(out);
  json.begin_array(Layout::line);
  for (const Value element : array) {
    // An element has at most six characters for a byte, so the text stays below 3 KiB.
    out.flush();
    is_cut = element.is_array() || element.bytes().size() > max_element_bytes ||
             text.size() > max_value_bytes;
    if (is_cut) break;
    visit_scalar(element, [&](auto scalar) { json.value(scalar); });
  }
  json.end();
  out.flush();
  text.pop_back();  // the line end of a document
  return text;
}

Cell scalar_cell(const Value& value) {
  Cell cell;
  visit_scalar(value, [&](auto scalar) {
    using T = decltype(scalar);
    if constexpr (std::same_as<T, std::string_view>) {
      cell = std::string(scalar);
    } else if constexpr (std::floating_point<T>) {
      // As it is written elsewhere: 1e-05 also where that is no double. SQLite has no NaN, and its
      // infinities are no numbers of JSON.
      const std::string digits = format_float(scalar);
      cell = std::isfinite(scalar) ? Cell(std::strtod(digits.c_str(), nullptr)) : Cell(digits);
    } else if constexpr (std::same_as<T, std::uint64_t>) {
      cell = number_cell(scalar);
    } else {
      cell = static_cast<std::int64_t>(scalar);
    }
  });
  return cell;
}

void add_key(FileRows& rows, const KeyValue& pair) {
  Row row = {{}, std::string(pair.key), std::string(name_of(pair.value.type())), {}, {}, {}};
  if (pair.value.is_array()) {
    const Array array = pair.value.as_array();
    bool is_cut = false;
    row[3] = array_text(array, is_cut);
    row[4] = number_cell(array.size());
    if (is_cut) row[5] = sha256(array.bytes());
  } else if (pair.value.type() == ValueType::string) {
    const std::string_view text = pair.value.get<std::string_view>().value_or("");
    row[3] = std::string(beginning(text, max_value_bytes));
    row[4] = number_cell(text.size());
    if (text.size() > max_value_bytes) {
      std::string digest = sha256(pair.value.bytes());
      if (text.size() <= max_kept_bytes) rows.texts.push_back({digest, std::string(text)});
      row[5] = std::move(digest);
    }
  } else {
    row[3] = scalar_cell(pair.value);
  }
  rows.keys.push_back(std::move(row));
}

void add_tensor(FileRows& rows, const TensorInfo& tensor, std::string digest) {
  rows.tensors.push_back({{},
                          std::string(tensor.name),
                          type_text(tensor.type),
                          "[" + joined(tensor.shape, ",") + "]",
                          number_cell(tensor.size_bytes),
                          digest.empty() ? Cell() : Cell(std::move(digest))});
}

void add_finding(FileRows& rows, const Finding& finding) {
  const auto subject = [](const std::string& text) { return text.empty() ? Cell() : Cell(text); };
  const bool has_place = finding.file_offset != Error::no_offset;
  rows.findings.push_back({{},
                           std::string(finding.rule->name),
                           std::string(name_of(finding.rule->severity)),
                           finding.message,
                           std::string(name_of(finding.rule->category)),
                           subject(finding.key),
                           subject(finding.tensor),
                           has_place ? number_cell(finding.file_offset) : Cell()});
}

/// "ORG/NAME" of an address of a repository, or of the names of who made a model and of the model;
/// in lower case and without blanks, so that both spellings are one.
std::optional<std::string> repository_name(const Model& model, const std::string& prefix) {
  std::string name;
  if (const auto address = find_text(model, prefix + "repo_url")) {
    std::string_view path = *address;
    if (const auto end = path.find("://"); end != path.npos) path.remove_prefix(end + 3);
    path.remove_prefix(std::min(path.size(), path.find('/') + 1));
    while (path.ends_with('/')) path.remove_suffix(1);
    name = path;
  } else if (const auto own = find_text(model, prefix + "name")) {
    const auto maker = find_text(model, prefix + "organization");
    name = (maker ? std::string(*maker) + "/" : "") + std::string(*own);
  }
  if (name.empty()) return std::nullopt;
  std::ranges::replace(name, ' ', '-');
  return lower_case(name);
}

/// The digest of what makes a tokenizer: two models with the same one cut texts alike.
std::optional<std::string> tokenizer_digest(const Model& model) {
  if (!find_text(model, "tokenizer.ggml.model")) return std::nullopt;
  Digest digest(DigestAlgorithm::sha256);
  for (const std::string_view part : {"model", "pre", "tokens", "merges", "scores", "token_type"}) {
    const Value* const value = model.find("tokenizer.ggml." + std::string(part));
    const std::uint64_t size = value != nullptr ? value->bytes().size() : 0;
    digest.update(std::as_bytes(std::span(&size, 1)));
    if (value != nullptr) digest.update(value->bytes());
  }
  return digest.finish();
}

/// What was found about a model, whether it is open or not.
struct Examined {
  std::optional<Model> model;
  std::vector<Finding> findings;
  Verdict verdict = Verdict::failed;
  std::string failure;  ///< Why it could not be read.
  ModelDigests digests;
  Cell architecture;
  Row columns = Row(10);  ///< The columns from `name` to `sample`, which all shards share.
};

Result<void> examine_weights(const CatalogUnit& unit, Examined& examined) {
  if (!unit.with_digests) return {};
  const DigestRequest request = {.has_files = false, .has_weights = true, .thread_count = 1};
  INGOT_TRY(examined.digests, compute_digests(*examined.model, request,
                                              [](std::uint64_t) { return stop_signal() == 0; }));
  return {};
}

void describe_model(const CatalogUnit& unit, Examined& examined) {
  const Model& model = *examined.model;
  const Summary summary = summarize(model);
  std::string type(file_type_name(summary.file_type.value_or(~0ull)));
  if (type.empty() && !summary.types.empty()) type = type_text(summary.types.front().type);
  const auto chat_template = find_text(model, "tokenizer.chat_template");
  const bool is_here = unit.reference.empty();  // else a sample would be fetched
  const std::string& weights = examined.digests.weights[DigestAlgorithm::sha256];
  examined.architecture = text_cell(summary.architecture);
  examined.columns = {
      text_cell(summary.name),
      text_cell(text_if_any(type)),
      text_cell(find_text(model, "general.license")),
      text_cell(repository_name(model, "general.")),
      text_cell(repository_name(model, "general.base_model.0.")),
      text_cell(find_text(model, "general.basename")),
      text_cell(tokenizer_digest(model)),
      chat_template ? Cell(sha256(std::as_bytes(std::span(*chat_template)))) : Cell(),
      text_cell(text_if_any(weights)),
      is_here ? text_cell(sample_digest(model)) : Cell()};
}

Result<void> examine(const CatalogUnit& unit, const OpenUnit& open, Examined& examined) {
  const FindingSink sink = [&](const Finding& finding) { examined.findings.push_back(finding); };
  CheckSummary summary;
  Result<Model> model = open(unit, false);
  if (!model) {
    const ErrorCategory category = category_of(model.error().code);
    if (category != ErrorCategory::input && category != ErrorCategory::lenient) {
      return fail(model.error());
    }
    const std::string path = unit.reference.empty() ? unit.path : "";
    const Finding refusal = explain_refusal(path, model.error());
    sink(refusal);
    summary.count(refusal);
    if (category == ErrorCategory::lenient) model = open(unit, true);
  }
  if (model) {
    const bool is_refused = summary.is_refused;
    INGOT_TRY(summary, check_model(*model, {.thread_count = 1}, sink));
    summary.is_refused |= is_refused;
    examined.model = *std::move(model);
    INGOT_TRY_VOID(examine_weights(unit, examined));
    describe_model(unit, examined);
  }
  examined.verdict = verdict_of(summary, false);
  return {};
}

/// The row of a file, of a model that is open or not. The order is that of the table.
FileRows file_rows(const CatalogUnit& unit, const Examined& examined, std::string path,
                   const ModelFile* file) {
  FileRows rows = {.path = std::move(path), .state = unit.state, .has_digests = unit.with_digests};
  system::FileFacts facts;
  const bool is_here = unit.reference.empty() && system::look_at(rows.path, facts);
  const std::uint64_t size_bytes = file != nullptr ? file->file_bytes
                                   : is_here       ? facts.size_bytes
                                                   : unit.size_bytes;
  rows.file = {{},
               rows.path,
               number_cell(size_bytes),
               examined.architecture,
               std::string(name_of(examined.verdict))};
  rows.file.insert(rows.file.end(), examined.columns.begin(), examined.columns.end());
  Row own(3);  // parameters, shard, shard_count
  if (file != nullptr) {
    std::uint64_t parameters = 0;
    for (const TensorInfo& tensor : file->tensors) parameters += tensor.element_count;
    own[0] = number_cell(parameters);
    if (examined.model->is_split()) {
      own[1] = number_cell(file->index);
      own[2] = number_cell(examined.model->shard_count());
    }
  }
  rows.file.insert(rows.file.end(), own.begin(), own.end());
  const auto if_here = [&](auto number) {
    return is_here ? Cell(static_cast<std::int64_t>(number)) : Cell();
  };
  rows.file.push_back(if_here(facts.modified_ns / 1'000'000'000));
  rows.file.push_back(if_here(facts.device));
  rows.file.push_back(if_here(facts.inode));
  // What could not be read is tried again the next time.
  rows.file.push_back(examined.verdict == Verdict::failed ? Cell() : Cell(unit.state));
  return rows;
}

}  // namespace

Result<std::vector<FileRows>> read_unit(const CatalogUnit& unit, const OpenUnit& open) {
  Examined examined;
  if (const Result<void> done = examine(unit, open, examined); !done) {
    if (done.error().code == Errc::interrupted || stop_signal() != 0) return fail(done.error());
    examined = Examined();
    examined.failure = done.error().message();
  }
  std::vector<FileRows> all;
  if (!examined.model) {
    for (const std::string& path : unit.files) {
      all.push_back(file_rows(unit, examined, path, nullptr));
    }
    if (all.empty()) all.push_back(file_rows(unit, examined, unit.path, nullptr));
  } else {
    const std::filesystem::path folder = std::filesystem::path(unit.path).parent_path();
    std::size_t next_digest = 0;
    for (const ModelFile& file : examined.model->files()) {
      const bool is_only = examined.model->files().size() == 1;
      const std::string path =
          is_only ? unit.path : (folder / std::filesystem::path(file.path).filename()).string();
      FileRows& rows = all.emplace_back(file_rows(unit, examined, path, &file));
      for (const KeyValue& pair : file.metadata) add_key(rows, pair);
      for (const TensorInfo& tensor : file.tensors) {
        const DigestTable& digests = examined.digests.tensors;
        const bool has_digest = next_digest < digests.size();
        add_tensor(rows, tensor,
                   has_digest ? digests[next_digest++][DigestAlgorithm::sha256] : std::string());
      }
    }
  }
  for (const Finding& finding : examined.findings) {
    const auto named = std::ranges::find(all, finding.file, &FileRows::path);
    add_finding(named != all.end() ? *named : all.front(), finding);
  }
  if (!examined.failure.empty()) {
    all.front().findings.push_back(
        {{}, "io_error", "error", examined.failure, "conformance", {}, {}, {}});
  }
  return all;
}

}  // namespace ingot::cli
