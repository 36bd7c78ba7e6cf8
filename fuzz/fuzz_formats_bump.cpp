// SPDX-License-Identifier: MIT
// Property: a bump file is refused, or is a model all of whose tensors can be read and which
// together have the bytes of the payload after its table.

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "formats/bump/bump_header.hpp"
#include "formats/bump/bump_reader.hpp"

namespace {

using namespace ingot;

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Up to a NUL the configuration, then the file: most inputs have none.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::size_t begin = 0;
  formats::BumpConfig config;
  if (text.starts_with('{')) {
    begin = std::min(size, text.find('\0'));
    config = formats::parse_bump_config(std::string(text.substr(0, begin)));
    if (begin < size) ++begin;
  }
  const std::span<const std::byte> file = std::as_bytes(std::span(data, size)).subspan(begin);
  OpenAnyOptions lenient;  // else no input would have the right checksum
  lenient.gguf.is_lenient = true;
  const auto opened = formats::open_bump_source(borrow_memory(file), config, lenient);
  if (!opened) {
    require(opened.error().code != Errc::internal);
    return 0;
  }
  std::uint64_t total = 0;
  std::vector<std::byte> bytes;
  for (const TensorInfo& tensor : opened->model.tensors()) {
    bytes.resize(tensor.size_bytes);
    require(opened->model.read(tensor, 0, bytes).has_value());
    total += tensor.size_bytes;
  }
  require(total <= file.size() - formats::bump_header_bytes);
  return 0;
}
