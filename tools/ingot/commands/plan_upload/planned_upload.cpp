// SPDX-License-Identifier: MIT
#include "commands/plan_upload/planned_upload.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ingot/digest_manifest.hpp>
#include <ingot/model_digests.hpp>
#include <ingot/text.hpp>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "cli/model_files.hpp"
#include "cli/progress.hpp"
#include "text/chat_json.hpp"
#include "text/value_text.hpp"
#include "text/whole_file.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

/// A tensor of a result.
struct Planned {
  std::string name;
  std::string form;  ///< Name, type and shape.
  std::uint64_t size_bytes = 0;
  bool is_copied = false;  ///< Its bytes are those of the source.
};

/// A result as its plan describes it.
struct ResultPlan {
  std::string source;
  std::string name;
  std::uint64_t file_bytes = 0;
  std::vector<Planned> tensors;
};

/// What a result is made from.
struct PlanSource {
  Model model;
  bool is_there = false;                          ///< The storage has the file itself.
  std::set<std::string, std::less<>> known = {};  ///< Tensors whose digest is in a manifest.
};

template <class Numbers>
std::string form_of(std::string_view name, std::string_view type, const Numbers& shape) {
  return fmt::format("{}\n{}\n{}", name, type, joined(shape, "x"));
}

std::string form_of(const TensorInfo& tensor) {
  return form_of(tensor.name, type_text(tensor.type), tensor.shape);
}

class PlannedUpload {
 public:
  PlannedUpload(Console& console, const std::string& plan) : console_(console), plan_(plan) {}

  /// Reads the plan and opens what it is about.
  ExitCode read() {
    INGOT_CLI_TRY(const std::string text, read_whole(plan_), console_, plan_);
    const auto document = parse_chat_json(text);
    if (!document) return console_.refuse(plan_, document.error(), ExitCode::refused);
    if (document->elements() == nullptr) return read_result(*document);
    for (const ChatValue& value : *document->elements()) {
      if (const ExitCode code = read_result(value); code != ExitCode::done) return code;
    }
    return ExitCode::done;
  }

  /// Models are looked at by their headers, all else is a manifest.
  ExitCode look_up(const std::vector<std::string>& against) {
    for (const std::string& path : against) {
      if (is_model_name(path) || is_folder(path)) {
        INGOT_CLI_TRY(const Model model, console_.open_model(path), console_, path);
        for (const TensorInfo& tensor : model.tensors()) forms_.insert(form_of(tensor));
        for (auto& [file, source] : sources_) {
          source.is_there = source.is_there || file == path || is_file_of(source.model, path);
        }
        continue;
      }
      INGOT_CLI_TRY(const std::string text, read_whole(path, max_list_bytes), console_, path);
      INGOT_CLI_TRY(const std::vector<ManifestEntry> entries, parse_digest_manifest(text), console_,
                    path);
      want(entries);
    }
    if (wanted_.empty()) return ExitCode::done;
    for (auto& [file, source] : sources_) {
      if (const ExitCode code = find_digests(file, source); code != ExitCode::done) return code;
    }
    return ExitCode::done;
  }

  [[nodiscard]] std::vector<PlannedFile> count() const {
    std::vector<PlannedFile> files;
    std::set<std::pair<std::string_view, std::string_view>> sent;  // by source and form
    for (const ResultPlan& result : results_) {
      const PlanSource& source = sources_.at(result.source);
      PlannedFile file{result.name, {.size_bytes = result.file_bytes}, 0};
      std::uint64_t header_bytes = result.file_bytes;
      for (const Planned& tensor : result.tensors) {
        header_bytes -= tensor.size_bytes;
        const bool is_known =
            tensor.is_copied && (source.is_there || source.known.contains(tensor.name));
        const bool is_first = sent.emplace(result.source, tensor.form).second;
        std::uint64_t& kind = is_known                       ? file.bytes.known_bytes
                              : !is_first                    ? file.bytes.repeated_bytes
                              : forms_.contains(tensor.form) ? file.likely_bytes
                                                             : file.bytes.new_bytes;
        kind += tensor.size_bytes;
      }
      file.bytes.new_bytes += header_bytes;
      files.push_back(std::move(file));
    }
    return files;
  }

 private:
  ExitCode refuse(std::string_view message) {
    return console_.refuse(plan_, message, ExitCode::refused);
  }

  ExitCode read_result(const ChatValue& value) {
    ResultPlan result{.source = text_of(value.find("file")),
                      .name = text_of(value.find("output")),
                      .file_bytes = 0,
                      .tensors = {}};
    const ChatValue* tensors = value.find("tensors");
    const ChatValue* changes = value.find("changes");
    const bool is_edit = changes != nullptr && changes->elements() != nullptr;
    const bool is_quantization =
        tensors != nullptr && tensors->elements() != nullptr && value.find("file_size") != nullptr;
    if (result.source.empty() || (!is_edit && !is_quantization)) {
      return refuse("this is no plan, which `quantize` and `edit` print with --dry-run --json");
    }
    if (result.name.empty()) {
      result.name = fmt::format("{} as {}", result.source, text_of(value.find("type")));
    }
    result.file_bytes = count_of(value.find(is_edit ? "file_bytes" : "file_size"));
    if (!sources_.contains(result.source)) {
      INGOT_CLI_TRY(Model model, console_.open_model(result.source), console_, result.source);
      sources_.emplace(result.source, PlanSource{std::move(model)});
    }
    const Model& model = sources_.at(result.source).model;
    is_edit ? take_tensors(model, *changes, result) : read_tensors(*tensors, result);
    std::uint64_t left = result.file_bytes;
    for (const Planned& tensor : result.tensors) {
      const TensorInfo* source = tensor.is_copied ? model.find_tensor(tensor.name) : nullptr;
      const bool has_changed =
          tensor.is_copied && (source == nullptr || source->size_bytes != tensor.size_bytes);
      if (has_changed || tensor.size_bytes > left) {
        return refuse(fmt::format("tensor \"{}\": its size is not that of \"{}\"; plan again",
                                  escape(tensor.name), escape(result.source)));
      }
      left -= tensor.size_bytes;
    }
    results_.push_back(std::move(result));
    return ExitCode::done;
  }

  /// The tensors of a quantization.
  static void read_tensors(const ChatValue& tensors, ResultPlan& result) {
    for (const ChatValue& value : *tensors.elements()) {
      const std::string type = text_of(value.find("to"));
      std::vector<std::uint64_t> shape;
      if (const ChatValue* sizes = value.find("shape"); sizes != nullptr && sizes->elements()) {
        for (const ChatValue& size : *sizes->elements()) shape.push_back(count_of(&size));
      }
      std::string name = text_of(value.find("name"));
      std::string form = form_of(name, type, shape);
      result.tensors.push_back({std::move(name), std::move(form), count_of(value.find("bytes")),
                                type == text_of(value.find("from"))});
    }
  }

  /// The tensors that an edit leaves, under whatever names.
  static void take_tensors(const Model& model, const ChatValue& changes, ResultPlan& result) {
    std::unordered_set<std::string> removed;
    for (const ChatValue& change : *changes.elements()) {
      if (text_of(change.find("action")) == "remove_tensor") {
        removed.insert(text_of(change.find("name")));
      }
    }
    for (const TensorInfo& tensor : model.tensors()) {
      std::string name(tensor.name);
      if (removed.contains(name)) continue;
      result.tensors.push_back({std::move(name), form_of(tensor), tensor.size_bytes, true});
    }
  }

  /// Keeps the digests of a manifest by its strongest algorithm, which comes first.
  void want(const std::vector<ManifestEntry>& entries) {
    for (const DigestAlgorithmInfo& info : digest_algorithms) {
      bool has_any = false;
      for (const ManifestEntry& entry : entries) {
        for (const NamedDigests& tensor : entry.tensors) {
          const std::string& digits = tensor.digests[info.algorithm];
          if (digits.empty()) continue;
          wanted_[info.algorithm].insert(digits);
          has_any = true;
        }
      }
      if (has_any) return;
    }
  }

  /// Notes which tensors of a source have a digest that is in a manifest; its weights are read
  /// once.
  ExitCode find_digests(const std::string& file, PlanSource& source) {
    DigestRequest request{.algorithms = {}, .has_files = false};
    request.thread_count = console_.threads();
    for (const auto& [algorithm, digests] : wanted_) request.algorithms.push_back(algorithm);
    const Model& model = source.model;
    std::uint64_t total_bytes = 0;
    for (const TensorInfo& tensor : model.tensors()) total_bytes += tensor.size_bytes;
    INGOT_CLI_TRY(const ModelDigests found,
                  run_with_progress(
                      console_, file, total_bytes,
                      [&](const GoOn& go_on) { return compute_digests(model, request, go_on); }),
                  console_, file);
    for (std::size_t i = 0; i < found.tensors.size(); ++i) {
      const DigestSet digests = found.tensors[i];
      const bool is_wanted = std::ranges::any_of(wanted_, [&](const auto& wanted) {
        return wanted.second.contains(digests[wanted.first]);
      });
      if (is_wanted) source.known.emplace(model.tensors()[i].name);
    }
    return ExitCode::done;
  }

  Console& console_;
  const std::string& plan_;
  std::vector<ResultPlan> results_;
  std::map<std::string, PlanSource> sources_;
  std::unordered_set<std::string> forms_;  ///< Of the tensors that the storage has.
  std::map<DigestAlgorithm, std::unordered_set<std::string>> wanted_;  ///< Digests of manifests.
};

}  // namespace

ExitCode plan_planned(Console& console, const std::string& plan,
                      const std::vector<std::string>& against, std::vector<PlannedFile>& files) {
  PlannedUpload upload(console, plan);
  ExitCode code = upload.read();
  if (code == ExitCode::done) code = upload.look_up(against);
  if (code == ExitCode::done) files = upload.count();
  return code;
}

}  // namespace ingot::cli
