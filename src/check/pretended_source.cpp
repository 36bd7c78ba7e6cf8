// SPDX-License-Identifier: MIT
#include "check/pretended_source.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "format/parse.hpp"

namespace ingot::check {
namespace {

/// No file is as large, so whatever an honest table promises is within it.
constexpr std::uint64_t pretended_bytes = std::uint64_t{1} << 60;

/// The bytes of a file, and a size that is not its own.
class PretendedSource final : public Source {
 public:
  explicit PretendedSource(std::unique_ptr<Source> source) noexcept : source_(std::move(source)) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return pretended_bytes; }
  [[nodiscard]] Result<void> read(std::uint64_t file_offset,
                                  std::span<std::byte> destination) const override {
    const std::uint64_t size_bytes = source_->size_bytes();
    // The parser reads a piece at a time, and the last one may be larger than what is left: it gets
    // zeros there, which are beyond the header.
    const std::uint64_t there =
        file_offset < size_bytes
            ? std::min<std::uint64_t>(destination.size(), size_bytes - file_offset)
            : 0;
    if (there == 0 && !destination.empty()) {
      return fail(Errc::truncated, file_offset, {}, "the file ends before");
    }
    std::fill(destination.begin() + static_cast<std::ptrdiff_t>(there), destination.end(),
              std::byte{0});
    return source_->read(file_offset, destination.first(static_cast<std::size_t>(there)));
  }

 private:
  std::unique_ptr<Source> source_;
};

/// Nothing in a header can be larger than the file; so limits of its size keep what is allocated in
/// bounds although the pretended size does not.
Limits limits_for(std::uint64_t size_bytes) noexcept {
  const Limits usual;
  return {.max_header_bytes = std::min(usual.max_header_bytes, size_bytes),
          .max_keys = std::min(usual.max_keys, size_bytes / 10),
          .max_tensors = std::min(usual.max_tensors, size_bytes / 20),
          .max_string_bytes = std::min(usual.max_string_bytes, size_bytes),
          .max_array_elements = std::min(usual.max_array_elements, size_bytes)};
}

}  // namespace

Result<CutFile> open_cut_file(const std::string& path, bool is_lenient) {
  INGOT_TRY(std::unique_ptr<Source> source, read_file(path));
  const std::uint64_t present_bytes = source->size_bytes();
  INGOT_TRY(Model model, Model::open_source(std::make_unique<PretendedSource>(std::move(source)),
                                            {.is_lenient = is_lenient,
                                             .with_shards = false,
                                             .limits = limits_for(present_bytes)}));
  const ModelFile& file = model.files()[0];
  if (file.header_bytes > present_bytes) {
    return fail(Errc::truncated, present_bytes, {}, "the file ends within its header");
  }
  const std::uint64_t end = format::end_of_data(file.header_bytes, file.data_offset, file.tensors);
  return CutFile{std::move(model), present_bytes, end};
}

bool is_complete(const Model& model, std::uint64_t present_bytes,
                 const TensorInfo& tensor) noexcept {
  const std::uint64_t begin = model.file_offset(tensor);
  return begin <= present_bytes && tensor.size_bytes <= present_bytes - begin;
}

}  // namespace ingot::check
