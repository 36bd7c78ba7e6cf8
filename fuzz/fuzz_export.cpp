// SPDX-License-Identifier: MIT
// Property: whatever a GGUF file holds, its folder is refused, or is planned with all of its files;
// a plan that nothing is lost by is one in strict mode, too; its tensors alone get other names
// or are refused, and so are the files of its tokenizer; nothing crashes, and no bug is reported.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ingot/folder_export.hpp"
#include "ingot/tokenizer_export.hpp"

namespace {

using namespace ingot;

constexpr const char* folder = "a folder that is not there";

void plan(const Model& model) {
  const auto lenient = plan_folder_export(model, folder, {.thread_count = 1});
  const auto strict = plan_folder_export(model, folder, {.is_strict = true, .thread_count = 1});
  for (const FolderPacking packing : {FolderPacking::mlx, FolderPacking::gptq}) {
    const auto packed = plan_folder_export(
        model, folder, {.packing = packing, .is_lossy = true, .thread_count = 1});
    if (!packed && packed.error().code == Errc::internal) std::abort();
  }
  for (const auto* planned : {&lenient, &strict}) {
    if (!*planned && planned->error().code == Errc::internal) std::abort();
  }
  if (!lenient) return;
  const auto& outputs = (*lenient)->outputs();
  const std::string config = std::string(folder) + "/config.json";
  if (std::find(outputs.begin(), outputs.end(), config) == outputs.end()) std::abort();
  if ((*lenient)->warnings().empty() != strict.has_value()) std::abort();
}

void rename_tensors(const Model& model) {
  std::vector<OutputTensor> tensors;
  for (const TensorInfo& tensor : model.tensors()) {
    auto output = output_of(tensor, TensorType::f32);
    if (output) tensors.push_back(*std::move(output));
  }
  std::vector<Error> remarks;
  const auto renamed = rename_as_in_folders(model, std::move(tensors), remarks);
  if (!renamed && renamed.error().code == Errc::internal) std::abort();
}

void export_tokenizer_of(const Model& model) {
  const auto tokenizer = Tokenizer::make(model);
  if (!tokenizer) return;
  const auto files = export_tokenizer(model, *tokenizer);
  if (!files && files.error().code != Errc::tokenizer_unknown &&
      files.error().code != Errc::tokenizer_invalid) {
    std::abort();
  }
  if (files && !files->tokenizer.ends_with("}}\n")) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!exportable_architectures()) std::abort();
  const auto model = Model::open_memory(std::as_bytes(std::span(data, size)));
  if (!model) return 0;
  plan(*model);
  rename_tensors(*model);
  export_tokenizer_of(*model);
  return 0;
}
