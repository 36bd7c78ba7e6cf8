// SPDX-License-Identifier: MIT
// Property: any bytes have the same chunks in one piece as in two, and as a list of chunks are
// refused with an ordinary error or read as chunks that are not larger than the largest.

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "ingot/upload_plan.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  std::vector<ingot::XetChunk> whole;
  std::vector<ingot::XetChunk> pieces;
  ingot::XetHasher one([&](const ingot::XetChunk& chunk) { whole.push_back(chunk); });
  ingot::XetHasher two([&](const ingot::XetChunk& chunk) { pieces.push_back(chunk); });
  one.update(bytes);
  two.update(bytes.first(size / 3));
  two.update(bytes.subspan(size / 3));
  require(one.finish() == two.finish() && whole == pieces);
  require(xorb_hash(whole) == xorb_hash(pieces));
  for (const ingot::XetChunk& chunk : whole) {
    require(ingot::parse_xet_hash(name_of(chunk.hash)) == chunk.hash);
  }

  require(ingot::plan_upload(ingot::files_to_upload({}).value())->xorbs.empty());
  const auto list = ingot::borrow_memory(bytes);
  const auto read = ingot::read_chunk_list(*list, [](const ingot::XetChunk& chunk) {
    require(chunk.size_bytes != 0 && chunk.size_bytes <= std::uint64_t{128} << 10);
  });
  require(read || read.error().code == ingot::Errc::manifest_invalid);
  return 0;
}
