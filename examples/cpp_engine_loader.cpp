// SPDX-License-Identifier: MIT
// cpp_engine_loader MODEL: how an inference engine loads a model. All shards are opened and mapped;
// tensor after tensor is handed to a callback in pieces, in the order of the files, as a back end
// would copy them to its device. Nothing is ever held twice.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <ingot/ingot.hpp>
#include <vector>

/// Copies `bytes` to where the tensor lives on the device; false stops the loading.
using Upload = std::function<bool(const ingot::TensorInfo& tensor, std::uint64_t offset_bytes,
                                  std::span<const std::byte> bytes)>;

static constexpr std::size_t piece_bytes = std::size_t{16} << 20;  // a staging buffer

static ingot::Result<void> upload_tensor(const ingot::Model& model, const ingot::TensorInfo& tensor,
                                         std::vector<std::byte>& staging, const Upload& upload) {
  const std::span<const std::byte> mapped = model.data(tensor);
  for (std::uint64_t done = 0; done < tensor.size_bytes; done += piece_bytes) {
    const auto size =
        static_cast<std::size_t>(std::min<std::uint64_t>(piece_bytes, tensor.size_bytes - done));
    std::span<const std::byte> piece;
    if (mapped.empty()) {  // opened with FileAccess::read, or from a source of one's own
      staging.resize(size);
      INGOT_TRY_VOID(model.read(tensor, done, staging));
      piece = staging;
    } else {
      piece = mapped.subspan(done, size);
    }
    if (!upload(tensor, done, piece)) {
      return ingot::fail(ingot::Errc::interrupted, std::string(tensor.name));
    }
  }
  return {};
}

static ingot::Result<void> load(const ingot::Model& model, const Upload& upload) {
  // A set of shards opens even if some are missing; to run a model, all must be there.
  if (model.files().size() < model.shard_count()) {
    return ingot::fail(ingot::Errc::shard_missing, model.shard_path(0));
  }
  std::vector<const ingot::TensorInfo*> tensors;
  for (const ingot::TensorInfo& tensor : model.tensors()) {
    // This engine has kernels for little-endian blocks of known types.
    if (ingot::find_type(tensor.type) == nullptr ||
        model.files()[tensor.shard].byte_order != ingot::Endian::little) {
      return ingot::fail(ingot::Errc::unsupported_type, std::string(tensor.name));
    }
    tensors.push_back(&tensor);
  }
  // The order of the files is the order in which disks are fast.
  std::sort(tensors.begin(), tensors.end(), [&](const auto* a, const auto* b) {
    return std::pair(a->shard, a->data_offset) < std::pair(b->shard, b->data_offset);
  });
  std::vector<std::byte> staging;
  for (const ingot::TensorInfo* tensor : tensors) {
    INGOT_TRY_VOID(upload_tensor(model, *tensor, staging, upload));
  }
  return {};
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const ingot::Result<ingot::Model> model = ingot::Model::open(argv[1]);
  if (!model) {
    std::fprintf(stderr, "%s: %s\n", argv[1], model.error().message().c_str());
    return 3;
  }
  const ingot::Summary facts = ingot::summarize(*model);
  std::printf("%s: %llu layers of width %llu\n",
              ingot::escape(facts.architecture.value_or("unknown")).c_str(),
              static_cast<unsigned long long>(facts.block_count.value_or(0)),
              static_cast<unsigned long long>(facts.embedding_length.value_or(0)));

  std::vector<std::byte> device;  // stands for the memory of an accelerator
  const auto copy_to_device = [&](const ingot::TensorInfo&, std::uint64_t,
                                  std::span<const std::byte> bytes) {
    device.insert(device.end(), bytes.begin(), bytes.end());
    return true;
  };
  if (const ingot::Result<void> loaded = load(*model, copy_to_device); !loaded) {
    std::fprintf(stderr, "%s: %s\n", argv[1], loaded.error().message().c_str());
    return 3;
  }
  std::printf("%zu tensors, %s on the device\n", model->tensors().size(),
              ingot::format_bytes(device.size()).c_str());
  return device.size() == facts.tensor_bytes ? 0 : 1;
}
