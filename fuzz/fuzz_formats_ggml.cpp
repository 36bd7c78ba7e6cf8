// SPDX-License-Identifier: MIT
// Property: a file from before GGUF is refused, or is a model all of whose tensors can be read.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "ingot/interop.hpp"
#include "ingot/store.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first byte chooses the magic, so that every input is one of the three formats.
  constexpr std::array magics = {"lmgg", "fmgg", "tjgg"};
  std::vector<std::byte> file;
  for (const char* letter = magics[data[0] % magics.size()]; *letter != '\0'; ++letter) {
    file.push_back(static_cast<std::byte>(*letter));
  }
  const auto rest = std::as_bytes(std::span(data, size).subspan(1));
  file.insert(file.end(), rest.begin(), rest.end());
  ingot::MemoryStore store;
  store.add("old.bin", file);
  const auto opened = ingot::open_any(store, "old.bin");
  if (!opened) {
    require(opened.error().code != ingot::Errc::internal);
    return 0;
  }
  std::vector<std::byte> bytes;
  for (const ingot::TensorInfo& tensor : opened->model.tensors()) {
    bytes.resize(static_cast<std::size_t>(tensor.size_bytes));
    require(opened->model.read(tensor, 0, bytes).has_value());
  }
  return 0;
}
