// SPDX-License-Identifier: MIT
// Writes npz: a zip archive of NumPy arrays, stored without compression.
#include <zlib.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/ranges.hpp"
#include "formats/foreign/planner.hpp"
#include "formats/npz/zip_records.hpp"
#include "ingot/npy.hpp"
#include "ingot/output_set.hpp"

namespace ingot::formats {
namespace {

/// Names become file names when the archive is unpacked.
Result<void> check_names(std::span<const OutputTensor> tensors) {
  for (const OutputTensor& tensor : tensors) {
    const std::string path = "/" + tensor.name + "/";
    if (tensor.name.empty() || tensor.name.size() > 60000 || tensor.name.front() == '/' ||
        path.find("/../") != std::string::npos || path.find('\\') != std::string::npos) {
      return fail(Errc::name_does_not_fit, tensor.name);
    }
  }
  const auto twice = find_duplicate(tensors, &OutputTensor::name);
  if (twice) return fail(Errc::tensor_duplicate, *twice);
  return {};
}

class NpzSink final : public TensorSink {
 public:
  explicit NpzSink(OutputFile& file) : file_(file) {}

  Result<void> begin(const OutputTensor& tensor) override {
    ZipMember member;
    member.name = tensor.name + ".npy";
    const std::string head = npy_header(npy_descriptor(tensor.type), tensor.shape);
    member.size_bytes = head.size() + tensor.size_bytes;
    member.file_offset = position_;
    members_.push_back(std::move(member));
    INGOT_TRY_VOID(append(zip_local_header(members_.back()).span()));
    return write(std::as_bytes(std::span(head)));
  }

  Result<void> write(std::span<const std::byte> piece) override {
    std::uint32_t& crc = members_.back().crc;
    crc = static_cast<std::uint32_t>(
        crc32_z(crc, reinterpret_cast<const Bytef*>(piece.data()), piece.size()));
    return append(piece);
  }

  Result<void> end() override {
    const ZipMember& member = members_.back();
    return file_.overwrite(member.file_offset + zip_crc_position,
                           ZipRecord().u32(member.crc).span());
  }

  Result<void> finish() {
    const std::uint64_t begin = position_;
    for (const ZipMember& member : members_) {
      INGOT_TRY_VOID(append(zip_central_header(member).span()));
    }
    return append(zip_end(members_.size(), begin, position_ - begin).span());
  }

 private:
  Result<void> append(std::span<const std::byte> bytes) {
    position_ += bytes.size();
    return file_.write(bytes);
  }

  OutputFile& file_;
  std::uint64_t position_ = 0;
  std::vector<ZipMember> members_;
};

bool npz_holds(TensorType type) { return !npy_descriptor(type).empty(); }

class NpzConversion final : public Conversion {
 public:
  NpzConversion(const Model& model, const ConvertOptions& options)
      : model_(model), options_(options) {}

  Result<void> plan(const std::string& path) {
    INGOT_TRY(tensors_, plan_plain_tensors(model_, options_, npz_holds, remarks_));
    INGOT_TRY_VOID(check_names(tensors_));
    for (const OutputTensor& tensor : tensors_) total_bytes_ += tensor.size_bytes;
    outputs_.push_back(path);
    return {};
  }

  Result<void> run(const WriteProgress& progress) const override {
    OutputSet outputs(options_.replace);
    INGOT_TRY(OutputFile* const file, outputs.add(outputs_[0], total_bytes_));
    NpzSink sink(*file);
    INGOT_TRY_VOID(
        stream_tensors(model_, tensors_, sink, {.thread_count = options_.thread_count}, progress));
    INGOT_TRY_VOID(sink.finish());
    return outputs.commit();
  }

 private:
  const Model& model_;
  ConvertOptions options_;
  std::vector<OutputTensor> tensors_;
};

}  // namespace

Result<std::unique_ptr<Conversion>> plan_npz(const Model& model, const std::string& path,
                                             const ConvertOptions& options) {
  return planned<NpzConversion>(model, path, options);
}

}  // namespace ingot::formats
