// SPDX-License-Identifier: MIT
// Property: whatever file is taken for an adapter, it is refused, or merged into a model whose
// tensors keep their names and shapes; nothing crashes, and no bug is reported.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "ingot/lora.hpp"
#include "ingot/model_writer.hpp"

namespace {

using namespace ingot;

/// A model with a tensor of each shape that the adapter has halves for.
Result<Model> make_model(const LoraAdapter& adapter, std::vector<std::byte>& bytes) {
  constexpr std::uint64_t max_elements = 1 << 16;
  ModelWriter writer;
  writer.set_string("general.architecture", adapter.architecture);
  for (const LoraChange& change : adapter.changes) {
    if (change.is_whole() && adapter.factor(change, 0.5) != 0.5) std::abort();
    std::vector<std::uint64_t> shape(change.a->shape.begin(), change.a->shape.end());
    shape[0] = change.row_elements();
    if (!change.is_whole()) shape[1] = change.row_count();
    std::uint64_t elements = 1;
    for (const std::uint64_t size : shape) {
      if (size == 0 || size > max_elements / elements) return fail(Errc::limit_exceeded, {});
      elements *= size;
    }
    INGOT_TRY_VOID(writer.add_tensor(change.name, TensorType::f32, shape, DataProducer()));
    const std::uint64_t data_bytes = (elements * sizeof(float) + 31) / 32 * 32;
    bytes.resize(bytes.size() + static_cast<std::size_t>(data_bytes));
  }
  INGOT_TRY(const std::vector<std::byte> header, writer.serialise_header());
  bytes.insert(bytes.begin(), header.begin(), header.end());
  return Model::open_memory(bytes);
}

void merge(const LoraAdapter& adapter) {
  std::vector<std::byte> bytes;
  const Result<Model> model = make_model(adapter, bytes);
  if (!model) return;
  const ScaledLora scaled{&adapter, 0.5};
  const LoraMergeOptions options{.thread_count = 1};
  const auto plan = plan_lora_merge(*model, {&scaled, 1}, options);
  if (!plan) {
    if (plan.error().code == Errc::internal) std::abort();
    return;
  }
  static const std::string path =
      std::filesystem::temp_directory_path() / ("ingot-fuzz-lora-" + std::to_string(::getpid()));
  if (!merged_lora_bytes(*model, *plan)) std::abort();
  const auto merged = merge_lora(*model, *plan, options, path, true);
  if (merged) {
    std::filesystem::remove(path);
  } else if (merged.error().code == Errc::internal) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto model = Model::open_memory(std::as_bytes(std::span(data, size)));
  if (!model) return 0;
  const auto adapter = read_lora(*model);
  if (!adapter && adapter.error().code == Errc::internal) std::abort();
  if (adapter) merge(*adapter);
  return 0;
}
