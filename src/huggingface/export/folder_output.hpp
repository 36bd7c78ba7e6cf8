// SPDX-License-Identifier: MIT
// Writes the files of a folder, all of them or none.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "formats/safetensors/safetensors_shards.hpp"
#include "ingot/folder_export.hpp"

namespace ingot {
class OutputFile;
class OutputSet;
}  // namespace ingot

namespace ingot::huggingface {

/// Makes the bytes of a tensor that is not copied.
using MakeTensor =
    std::function<Result<void>(const Model& model, unsigned thread_count, const DataSink& sink)>;

struct FolderContent {
  std::map<std::string, std::string> texts;  ///< The texts of files by their name below the folder.
  std::vector<formats::SafetensorsShard> shards;
  std::map<std::string, MakeTensor> made;  ///< By the names of tensors.
  std::vector<Error> lost;
  std::vector<Error> remarks;
};

/// Changes the numbers of a tensor, in F32, as the import does.
[[nodiscard]] MakeTensor change_each_number(const OutputTensor& tensor,
                                            std::function<float(float number)> change);

class FolderOutput final : public Conversion {
 public:
  FolderOutput(const Model& model, FolderContent content, const FolderExportOptions& options);

  /// Once. Errc::already_exists if the folder holds files that may not be replaced;
  /// Errc::invalid_argument if one that would stay would become a part of the model.
  [[nodiscard]] Result<void> choose_folder(const std::string& folder);

  [[nodiscard]] Result<void> run(const WriteProgress& progress) const override;

 private:
  [[nodiscard]] Result<void> check_folder() const;
  [[nodiscard]] Result<void> check_others() const;
  [[nodiscard]] Result<void> write(OutputSet& outputs, const WriteProgress& progress) const;
  [[nodiscard]] Result<void> write_shard(const formats::SafetensorsShard& shard, OutputFile& file,
                                         const WriteProgress& progress) const;

  const Model& model_;
  FolderContent content_;
  std::string folder_;
  bool replace_;
  unsigned thread_count_;
};

}  // namespace ingot::huggingface
