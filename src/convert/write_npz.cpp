// SPDX-License-Identifier: MIT
// Writes npz: a zip archive of NumPy arrays, stored without compression.
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "convert/output_set.hpp"
#include "convert/planner.hpp"
#include "ingot/npy.hpp"

namespace ingot::convert {
namespace {

// The numbers of this file are those of APPNOTE.TXT of PKWARE, version 6.3.10.

constexpr std::uint64_t most_in_32_bits = 0xFFFFFFFF;
constexpr std::uint16_t utf8_names = 1 << 11;
constexpr std::uint16_t version_zip64 = 45;
constexpr std::uint16_t first_day = 1 << 5 | 1;  // 1980-01-01: the same model, the same bytes

/// Numbers of the archive, little-endian.
class Record {
 public:
  Record& u16(std::uint64_t number) { return put(number, 2); }
  Record& u32(std::uint64_t number) { return put(number, 4); }
  Record& u64(std::uint64_t number) { return put(number, 8); }
  Record& text(std::string_view text) {
    bytes_ += text;
    return *this;
  }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::span<const std::byte> span() const { return std::as_bytes(std::span(bytes_)); }

 private:
  Record& put(std::uint64_t number, int size) {
    for (int i = 0; i < size; ++i, number >>= 8) bytes_.push_back(static_cast<char>(number & 0xFF));
    return *this;
  }

  std::string bytes_;
};

/// An array in the archive.
struct Member {
  std::string name;  // with ".npy"
  std::string head;  // of the .npy file
  std::uint64_t size_bytes = 0;
  std::uint64_t file_offset = 0;
  std::uint32_t crc = 0;

  [[nodiscard]] bool is_large() const noexcept { return size_bytes >= most_in_32_bits; }
  [[nodiscard]] bool is_far() const noexcept { return file_offset >= most_in_32_bits; }
};

constexpr std::uint64_t crc_position = 14;  // in a local header

Record local_header(const Member& member) {
  Record record;
  const std::uint64_t size = member.is_large() ? most_in_32_bits : member.size_bytes;
  record.u32(0x04034B50).u16(version_zip64).u16(utf8_names).u16(0).u16(0).u16(first_day);
  record.u32(member.crc).u32(size).u32(size);
  record.u16(member.name.size()).u16(member.is_large() ? 20 : 0).text(member.name);
  if (member.is_large()) record.u16(1).u16(16).u64(member.size_bytes).u64(member.size_bytes);
  return record;
}

Record central_header(const Member& member) {
  Record extra;
  if (member.is_large()) extra.u64(member.size_bytes).u64(member.size_bytes);
  if (member.is_far()) extra.u64(member.file_offset);
  Record field;
  if (!extra.bytes().empty()) field.u16(1).u16(extra.bytes().size()).text(extra.bytes());
  const std::uint64_t size = member.is_large() ? most_in_32_bits : member.size_bytes;
  Record record;
  record.u32(0x02014B50).u16(version_zip64).u16(version_zip64).u16(utf8_names).u16(0).u16(0);
  record.u16(first_day).u32(member.crc).u32(size).u32(size).u16(member.name.size());
  record.u16(field.bytes().size()).u16(0).u16(0).u16(0).u32(0);
  record.u32(member.is_far() ? most_in_32_bits : member.file_offset);
  return record.text(member.name).text(field.bytes());
}

/// What ends the archive: the directory at `begin` has `size_bytes`.
Record end_of_archive(std::uint64_t members, std::uint64_t begin, std::uint64_t size_bytes) {
  constexpr std::uint64_t most_in_16_bits = 0xFFFF;
  Record record;
  if (members >= most_in_16_bits || begin >= most_in_32_bits || size_bytes >= most_in_32_bits) {
    record.u32(0x06064B50).u64(44).u16(version_zip64).u16(version_zip64).u32(0).u32(0);
    record.u64(members).u64(members).u64(size_bytes).u64(begin);
    record.u32(0x07064B50).u32(0).u64(begin + size_bytes).u32(1);
  }
  const std::uint64_t count = std::min(members, most_in_16_bits);
  record.u32(0x06054B50).u16(0).u16(0).u16(count).u16(count);
  return record.u32(std::min(size_bytes, most_in_32_bits))
      .u32(std::min(begin, most_in_32_bits))
      .u16(0);
}

/// Names become file names for whoever unpacks the archive.
Result<void> check_names(std::span<const OutputTensor> tensors) {
  std::vector<std::string_view> names;
  for (const OutputTensor& tensor : tensors) {
    const std::string path = "/" + tensor.name + "/";
    if (tensor.name.empty() || tensor.name.size() > 60000 || tensor.name.front() == '/' ||
        path.find("/../") != std::string::npos || path.find('\\') != std::string::npos) {
      return fail(Errc::name_does_not_fit, tensor.name);
    }
    names.push_back(tensor.name);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return {};
  return fail(Errc::tensor_duplicate, std::string(*twice));
}

class NpzSink final : public TensorSink {
 public:
  explicit NpzSink(OutputFile& file) : file_(file) {}

  Result<void> begin(const OutputTensor& tensor) override {
    Member member;
    member.name = tensor.name + ".npy";
    member.head = npy_header(npy_descriptor(tensor.type), tensor.shape);
    member.size_bytes = member.head.size() + tensor.size_bytes;
    member.file_offset = position_;
    members_.push_back(std::move(member));
    INGOT_TRY_VOID(append(local_header(members_.back()).span()));
    return write(std::as_bytes(std::span(members_.back().head)));
  }

  Result<void> write(std::span<const std::byte> piece) override {
    std::uint32_t& crc = members_.back().crc;
    crc = static_cast<std::uint32_t>(
        crc32_z(crc, reinterpret_cast<const Bytef*>(piece.data()), piece.size()));
    return append(piece);
  }

  Result<void> end() override {
    const Member& member = members_.back();
    return file_.overwrite(member.file_offset + crc_position, Record().u32(member.crc).span());
  }

  Result<void> finish() {
    const std::uint64_t begin = position_;
    for (const Member& member : members_) INGOT_TRY_VOID(append(central_header(member).span()));
    return append(end_of_archive(members_.size(), begin, position_ - begin).span());
  }

 private:
  Result<void> append(std::span<const std::byte> bytes) {
    position_ += bytes.size();
    return file_.write(bytes);
  }

  OutputFile& file_;
  std::uint64_t position_ = 0;
  std::vector<Member> members_;
};

bool holds(TensorType type) { return !npy_descriptor(type).empty(); }

class NpzConversion final : public Conversion {
 public:
  NpzConversion(const Model& model, const ConvertOptions& options)
      : model_(model), replace_(options.replace), threads_(options.thread_count) {}

  Result<void> plan(const std::string& path, const ConvertOptions& options) {
    INGOT_TRY(tensors_, plan_plain_tensors(model_, options, holds, remarks_));
    INGOT_TRY_VOID(check_names(tensors_));
    for (const OutputTensor& tensor : tensors_) total_bytes_ += tensor.size_bytes;
    outputs_.push_back(path);
    return {};
  }

  Result<void> run(const WriteProgress& progress) const override {
    OutputSet outputs(replace_);
    INGOT_TRY(OutputFile* const file, outputs.add(outputs_[0], total_bytes_));
    NpzSink sink(*file);
    INGOT_TRY_VOID(stream_tensors(model_, tensors_, sink, {.thread_count = threads_}, progress));
    INGOT_TRY_VOID(sink.finish());
    return outputs.commit();
  }

 private:
  const Model& model_;
  bool replace_;
  unsigned threads_;
  std::vector<OutputTensor> tensors_;
};

}  // namespace

Result<std::unique_ptr<Conversion>> plan_npz(const Model& model, const std::string& path,
                                             const ConvertOptions& options) {
  auto conversion = std::make_unique<NpzConversion>(model, options);
  INGOT_TRY_VOID(conversion->plan(path, options));
  return std::unique_ptr<Conversion>(std::move(conversion));
}

}  // namespace ingot::convert
