// SPDX-License-Identifier: MIT
// Property: through any layout index a file opens as the walk sees it, or unverified with tensors
// that lie within the file; an index that the walk confirms shows the same tensors.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "format/header_index.hpp"
#include "ingot/layout_index.hpp"
#include "ingot/model.hpp"
#include "ingot/model_writer.hpp"

namespace {

using namespace ingot;
using Bytes = std::vector<std::byte>;

void require(bool condition) {
  if (!condition) std::abort();
}

bool has_same_tensors(const Model& a, const Model& b) {
  if (a.tensors().size() != b.tensors().size()) return false;
  for (std::size_t i = 0; i < a.tensors().size(); ++i) {
    const TensorInfo& x = a.tensors()[i];
    const TensorInfo& y = b.tensors()[i];
    if (x.name != y.name || x.size_bytes != y.size_bytes || a.file_offset(x) != b.file_offset(y)) {
      return false;
    }
  }
  return true;
}

void compare(const Result<Model>& walked, const Result<Model>& indexed, std::uint64_t file_bytes) {
  if (!indexed) return require(!walked);
  if (indexed->is_verified()) return require(walked && has_same_tensors(*walked, *indexed));
  for (const TensorInfo& tensor : indexed->tensors()) {
    const std::uint64_t offset = indexed->file_offset(tensor);
    require(offset <= file_bytes && tensor.size_bytes <= file_bytes - offset);
  }
  if (walked && verify_layout_index(*walked)) require(has_same_tensors(*walked, *indexed));
}

void open_every_way(const Bytes& bytes) {
  const auto walked = Model::open_memory(bytes);
  if (walked) require(make_layout_index(*walked).has_value());
  compare(walked, Model::open_memory(bytes, {.uses_index = true}), bytes.size());
  const auto read = [&bytes](std::uint64_t offset, std::span<std::byte> destination) {
    std::memcpy(destination.data(), bytes.data() + offset, destination.size());
    return true;
  };
  compare(walked, Model::open_source(read_through(bytes.size(), read), {.uses_index = true}),
          bytes.size());
}

/// The model with an index, of which one element is a lie; the hash is right for what it leads to.
void open_with_lie(const Model& model, std::uint64_t element, std::uint64_t value) {
  auto writer = ModelWriter::from(model);
  if (!writer) return;
  const auto file_bytes = writer->file_bytes({.has_index = true});
  if (!file_bytes || *file_bytes > (1u << 20)) return;  // its header may be padded by gigabytes
  auto header = writer->serialise_header({.has_index = true});
  if (!header) return;
  Bytes bytes = *std::move(header);
  bytes.resize(static_cast<std::size_t>(*file_bytes));
  open_every_way(bytes);
  const std::size_t begin = 8 + 16 + 8 + layout_index_key.size() + 4 + 4 + 8;
  const auto found = format::find_index(bytes, {.file_bytes = bytes.size()});
  require(found.index.has_value());
  auto elements = format::elements_of(*found.index, 0);
  elements[element % elements.size()] = value;
  if (elements[1] <= bytes.size() && elements[2] <= bytes.size() - elements[1]) {
    elements[3] = format::hash_of_infos(std::span(bytes).subspan(
        static_cast<std::size_t>(elements[1]), static_cast<std::size_t>(elements[2])));
  }
  std::memcpy(&bytes[begin], elements.data(), elements.size() * sizeof elements[0]);
  open_every_way(bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  open_every_way(Bytes(input.begin(), input.end()));
  std::uint64_t lie[2] = {};
  if (size < sizeof lie) return 0;
  // At the end, so that the seeds are files as they are.
  std::memcpy(lie, data + size - sizeof lie, sizeof lie);
  const auto model = Model::open_memory(input);
  if (model) open_with_lie(*model, lie[0], lie[1] % 4096);
  return 0;
}
