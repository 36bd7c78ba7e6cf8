// SPDX-License-Identifier: MIT
#include <cerrno>
#include <memory>
#include <utility>

#include "io/file_descriptor.hpp"
#include "io/mapped_file.hpp"
#include "io/plain_file.hpp"
#include "io/stream.hpp"
#include "model/open/load.hpp"
#include "model/open/shards.hpp"
#include "system/files.hpp"

namespace ingot {
namespace {

/// A new descriptor for the file behind a caller's descriptor.
Result<io::FileDescriptor> duplicate(int descriptor) {
  io::FileDescriptor copy(system::duplicate(descriptor));
  if (!copy.is_open()) return io::fail_with_errno(errno, {}, "duplicate the descriptor");
  return copy;
}

}  // namespace

Result<Model> Model::open_descriptor(int descriptor, const OpenOptions& options) {
  Result<std::uint64_t> size_bytes = io::size_of_regular(descriptor, {});
  if (!size_bytes) {
    if (!io::is_stream(descriptor)) return fail(std::move(size_bytes).error());
    return open_loaded(load_stream(descriptor, options));
  }
  INGOT_TRY(io::FileDescriptor own, duplicate(descriptor));
  if (options.access == FileAccess::read) {
    return open_loaded(load(io::read_descriptor({std::move(own), *size_bytes}), options));
  }
  INGOT_TRY(std::unique_ptr<Source> source, io::map_descriptor({std::move(own), *size_bytes}));
  return open_loaded(load(std::move(source), options));
}

}  // namespace ingot
