// SPDX-License-Identifier: MIT
// Property: a safetensors file is refused, or is a model all of whose tensors can be read, and
// which together have the bytes of the file's data; a set of files in a store likewise.

#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "formats/safetensors/safetensors_header.hpp"
#include "formats/safetensors/safetensors_index.hpp"
#include "formats/safetensors/safetensors_reader.hpp"
#include "ingot/store.hpp"

namespace {

using namespace ingot;

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const Model& model) {
  std::vector<std::byte> bytes;
  for (const TensorInfo& tensor : model.tensors()) {
    bytes.resize(tensor.size_bytes);
    require(model.read(tensor, 0, bytes).has_value());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> file = std::as_bytes(std::span(data, size));
  const auto opened = formats::open_safetensors_source(borrow_memory(file), {});
  if (opened) {
    check(opened->model);
  } else {
    require(opened.error().code != Errc::internal);
  }
  // The text alone, without a size before it, is shorter to mutate; and it may be an index.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto header = formats::parse_safetensors_header(text, 16, 100);
  if (header) {
    std::uint64_t end = 0;
    for (const formats::SafetensorsTensor& tensor : header->tensors) {
      require(tensor.begin == end && tensor.end >= tensor.begin);
      end = tensor.end;
    }
    require(end == 16);
  }
  static_cast<void>(formats::parse_weight_map(text));
  // The input is the index, and also every file of a set that it may name.
  require(!file_system().locate("a").empty());
  MemoryStore store;
  for (const char* name : {"f/m.safetensors.index.json", "f/m-00001-of-00002.safetensors",
                           "f/m-00002-of-00002.safetensors"}) {
    store.add(name, file);
    for (const char* opened_name : {"f", name}) {
      const auto set = open_any(store, opened_name);
      if (set) check(set->model);
    }
  }
  return 0;
}
