// SPDX-License-Identifier: MIT
// One run of the rules over a model folder: what they look at, and where their findings go.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/safetensors/safetensors_index.hpp"
#include "huggingface/folder/config.hpp"
#include "huggingface/folder/model_folder.hpp"
#include "ingot/check.hpp"
#include "ingot/import.hpp"

namespace ingot::huggingface {

/// A tensor in the header of a file.
struct ListedTensor {
  std::string file;
  std::vector<std::uint64_t> shape;  ///< The outermost dimension first.
};

class FolderInspection {
 public:
  FolderInspection(const ModelFolder& folder, const CheckOptions& options, const FindingSink& sink)
      : folder_(folder), options_(options), sink_(sink) {}

  /// Reads everything but weights. Faults of the folder are kept for the rules; an error of the
  /// system is returned.
  [[nodiscard]] Result<void> read(const Store& store, const std::string& path);

  // --- what rules look at
  /// Files and folders that are links out of the folder, with what is wrong about each.
  [[nodiscard]] const std::map<std::string, std::string>& links_out() const noexcept {
    return links_out_;
  }
  [[nodiscard]] const ModelFolder& folder() const noexcept { return folder_; }
  [[nodiscard]] const std::optional<Config>& config() const noexcept { return config_; }
  /// Files of weights that should be there: those of the index, or else model*.safetensors.
  [[nodiscard]] const std::vector<std::string>& weight_files() const noexcept { return files_; }
  [[nodiscard]] const formats::WeightMap& index() const noexcept { return index_; }
  /// Why the index cannot be read; nothing if it can, or there is none.
  [[nodiscard]] const std::optional<Error>& index_error() const noexcept { return index_error_; }
  /// The tensors by name; a name in several files has several entries.
  [[nodiscard]] const std::multimap<std::string, ListedTensor>& tensors() const noexcept {
    return tensors_;
  }
  /// The planned import; nullptr if it is refused.
  [[nodiscard]] const Import* import() const noexcept { return import_.get(); }
  /// Why it is refused, or needs options of the user.
  [[nodiscard]] const std::optional<Error>& refusal() const noexcept { return refusal_; }

  // --- findings
  /// Reports a finding of the rule that runs. Names in `message` must be safe to print.
  void report(std::string_view file, std::string message, std::string_view tensor = {});
  /// Reports a finding that was made elsewhere.
  void pass_on(Finding finding);

  void run(const CheckRule& rule, void (*function)(FolderInspection&));
  [[nodiscard]] const CheckSummary& counts() const noexcept { return counts_; }
  /// Whether a finding tells why the import is refused.
  [[nodiscard]] bool is_explained() const noexcept { return is_explained_; }

 private:
  void find_links(const Store& store, const std::string& path);
  Result<void> read_config();
  Result<void> read_index();
  Result<void> read_headers();
  Result<void> plan(const Store& store, const std::string& path);

  const ModelFolder& folder_;
  const CheckOptions& options_;
  const FindingSink& sink_;
  std::map<std::string, std::string> links_out_;
  std::optional<Config> config_;
  std::vector<std::string> files_;
  formats::WeightMap index_;
  std::optional<Error> index_error_;
  std::multimap<std::string, ListedTensor> tensors_;
  std::unique_ptr<Import> import_;
  std::optional<Error> refusal_;
  const CheckRule* rule_ = nullptr;
  std::uint64_t rule_findings_ = 0;
  CheckSummary counts_;
  bool is_explained_ = false;
  bool is_muted_ = false;  ///< The rule that runs was not asked for: it only explains.
};

}  // namespace ingot::huggingface
