// SPDX-License-Identifier: MIT
#include "quantization/kept_part.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <type_traits>

#include "base/checked.hpp"
#include "base/messages.hpp"
#include "ingot/source.hpp"
#include "ingot/version.h"
#include "io/file_stamp.hpp"
#include "io/in_place_file.hpp"
#include "io/own_file.hpp"
#include "io/source_pieces.hpp"
#include "system/files.hpp"

namespace ingot::quantization {
namespace {

constexpr std::size_t digest_digits = 32;  // of a digest by XXH3 with 128 bits, hexadecimal
constexpr std::size_t head_bytes = digest_digits + 1;
constexpr char with_nan = 'n';
constexpr char without_nan = '-';
constexpr std::size_t record_bytes = digest_digits + sizeof(TensorError);
static_assert(std::is_trivially_copyable_v<TensorError>);

/// The bytes at the beginning and the end of a tensor that stand for it. Training changes them all.
constexpr std::uint64_t sample_bytes = 1024;

template <class Number>
void add(Digest& digest, const Number& number) {
  digest.update(std::as_bytes(std::span(&number, 1)));
}

void add(Digest& digest, std::string_view text) {
  add(digest, text.size());
  digest.update(std::as_bytes(std::span(text)));
}

bool are_equal(const Source& a, const Source& b) {
  if (a.size_bytes() != b.size_bytes()) return false;
  std::vector<std::byte> other;
  return io::read_pieces(a, 0, a.size_bytes(),
                         [&](std::span<const std::byte> bytes, std::uint64_t at) {
                           other.resize(bytes.size());
                           return b.read(at, other).has_value() && std::ranges::equal(bytes, other);
                         })
      .value_or(false);
}

Result<void> add_importance(Digest& digest, const ImportanceMatrix& matrix) {
  std::vector<float> weights;
  for (const ImatrixEntry& entry : matrix.entries()) {
    add(digest, std::string_view(entry.name));
    add(digest, entry.moment_columns);
    weights.resize(static_cast<std::size_t>(entry.value_count));
    INGOT_TRY_VOID(matrix.read_weights(entry, 0, weights));
    digest.update(std::as_bytes(std::span(weights)));
    if (entry.moment_columns == 0) continue;
    const std::uint64_t blocks = divide_up(entry.column_count(), entry.moment_columns);
    for (std::uint64_t i = 0; i < entry.expert_count * blocks; ++i) {
      const std::uint64_t first = i % blocks * entry.moment_columns;
      const std::uint64_t columns = std::min(entry.moment_columns, entry.column_count() - first);
      weights.resize(static_cast<std::size_t>(columns * columns));
      INGOT_TRY_VOID(matrix.read_moments(entry, i / blocks, i % blocks, weights));
      digest.update(std::as_bytes(std::span(weights)));
    }
  }
  return {};
}

}  // namespace

Result<std::string> digest_source(const Model& model) {
  Digest digest(DigestAlgorithm::xxh3_128);
  for (const ModelFile& file : model.files()) {
    add(digest, file.file_bytes);
    if (const auto stamp = io::stamp_of(file.path)) add(digest, stamp->modified_ns);
  }
  std::vector<std::byte> sample;
  for (const TensorInfo& tensor : model.tensors()) {
    add(digest, std::string_view(tensor.name));
    add(digest, tensor.type);
    sample.resize(static_cast<std::size_t>(std::min(tensor.size_bytes, sample_bytes)));
    for (const std::uint64_t at : {std::uint64_t{0}, tensor.size_bytes - sample.size()}) {
      INGOT_TRY_VOID(model.read(tensor, at, sample));
      digest.update(sample);
    }
  }
  return digest.finish();
}

Result<std::string> digest_work(const PlannedResult& result, std::span<const std::byte> header,
                                const std::string& source) {
  Digest digest(DigestAlgorithm::xxh3_128);
  add(digest, std::string_view(INGOT_VERSION_STRING));
  add(digest, std::string_view(source));
  add(digest, std::string_view(result.options->resume_key));
  digest.update(header);
  for (const PlannedTensor& planned : result.plan->tensors) {
    add(digest, planned.effort);
    add(digest, planned.has_importance);
    add(digest, planned.has_feedback);
  }
  const ImportanceMatrix* const matrix = result.options->importance;
  if (matrix != nullptr) INGOT_TRY_VOID(add_importance(digest, *matrix));
  return digest.finish();
}

Result<KeptPart> KeptPart::open(PartPlan plan) {
  plan.path = io::real_path(plan.path);
  const std::string part_path = plan.path + ".ingot-quantizing";
  INGOT_TRY(io::StagedFile file, io::StagedFile::open(part_path, part_path + ".notes", "written"));
  KeptPart part(std::move(plan), std::move(file));
  Result<void> begun = part.begin();
  if (!begun) {
    if (part.is_begun_here_) part.remove();
    return fail(std::move(begun).error());
  }
  part.plan_.header = {};  // that of a large vocabulary takes some MiB
  return part;
}

std::uint64_t KeptPart::whole_bytes() const noexcept {
  std::uint64_t bytes = plan_.header.size();
  for (const std::uint64_t tensor : plan_.tensor_bytes) bytes += tensor;
  return bytes;
}

Result<void> KeptPart::begin() {
  INGOT_TRY(notes_, file_.open_notes());
  if (plan_.resumes) INGOT_TRY_VOID(load());
  if (is_named_) return {};
  if (system::FileFacts facts; system::look_at(plan_.path, facts)) {
    const bool is_file = facts.kind == system::FileKind::regular;
    if (plan_.may_replace && !is_file) {
      return fail(Errc::not_a_regular_file, plan_.path, "the output exists and is not a file");
    }
    const auto there = read_file(plan_.path);
    const bool may_be_this = plan_.resumes && is_file && there &&
                             (*there)->size_bytes() == whole_bytes() && has_header(**there);
    if (!plan_.may_replace && !may_be_this) return fail(Errc::already_exists, plan_.path);
  }
  if (finished_.empty()) {
    is_begun_here_ = true;
    INGOT_TRY_VOID(file_.clear());
  }
  size_bytes_ = plan_.header.size();
  for (std::size_t i = 0; i < finished_.size(); ++i) size_bytes_ += plan_.tensor_bytes[i];
  INGOT_TRY_VOID(file_.reserve(whole_bytes(), size_bytes_));
  if (finished_.empty()) INGOT_TRY_VOID(file_.write(0, plan_.header));
  // What follows the last finished tensor is of no use.
  const std::uint64_t kept = finished_.empty() ? 0 : head_bytes + finished_.size() * record_bytes;
  if (!system::set_size(notes_.get(), kept)) {
    return io::fail_with_errno(errno, file_.notes_path(), "cut it");
  }
  const std::string head = plan_.work + (plan_.allows_nan ? with_nan : without_nan);
  return with_subject(
      file_.notes_path(),
      io::write_fully(notes_.get(), 0, std::as_bytes(std::span(head)), "write the notes"));
}

/// Finds what is finished: tensors of the part, or all of the file that has its name.
Result<void> KeptPart::load() {
  const std::uint64_t most = head_bytes + plan_.tensor_bytes.size() * record_bytes;
  INGOT_TRY(const std::string notes, io::read_own_file(file_.notes_path(), most));
  if (notes.size() < head_bytes || notes.substr(0, digest_digits) != plan_.work) return {};
  // Tensors that a stricter work has finished hold no NaN.
  if (notes[digest_digits] != without_nan && !plan_.allows_nan) return {};
  INGOT_TRY(const std::uint64_t part_bytes, file_.size_bytes());
  // The part that is new is empty: the earlier one got its name, if it was this one.
  const auto source = read_file(part_bytes == 0 ? plan_.path : file_.path());
  if (!source && part_bytes != 0) return Failure(source.error());  // it may be good
  if (!source || !has_header(**source)) return {};
  std::uint64_t offset = plan_.header.size();
  const std::size_t count = (notes.size() - head_bytes) / record_bytes;
  for (std::size_t i = 0; i < count; ++i) {
    const char* const record = notes.data() + head_bytes + i * record_bytes;
    TensorError error;
    std::memcpy(&error, record + digest_digits, sizeof error);
    if (plan_.tensor_bytes[i] > (*source)->size_bytes() - offset) break;
    const auto is_read = io::read_pieces(**source, offset, plan_.tensor_bytes[i],
                                         [&](std::span<const std::byte> bytes, std::uint64_t) {
                                           digest_.update(bytes);
                                           return true;
                                         });
    if (!is_read) return fail(Errc::io_error, file_.path(), "what is there cannot be read");
    add(digest_, error);
    if (digest_.finish() != std::string_view(record, digest_digits)) break;
    finished_.push_back(error);
    offset += plan_.tensor_bytes[i];
  }
  if (part_bytes != 0) return {};
  is_named_ =
      finished_.size() == plan_.tensor_bytes.size() && (*source)->size_bytes() == whole_bytes();
  if (is_named_) {
    size_bytes_ = whole_bytes();
  } else {
    finished_.clear();
  }
  return {};
}

bool KeptPart::has_header(const Source& source) const {
  return io::read_pieces(source, 0, plan_.header.size(),
                         [&](std::span<const std::byte> bytes, std::uint64_t at) {
                           return std::memcmp(bytes.data(), &plan_.header[to_size(at)],
                                              bytes.size()) == 0;
                         })
      .value_or(false);
}

Result<void> KeptPart::write(std::span<const std::byte> bytes) {
  digest_.update(bytes);
  INGOT_TRY_VOID(file_.write(size_bytes_, bytes));
  size_bytes_ += bytes.size();
  return {};
}

Result<void> KeptPart::end_tensor(const TensorError& error) {
  add(digest_, error);
  std::array<std::byte, record_bytes> record;
  const std::string digest = digest_.finish();
  std::memcpy(record.data(), digest.data(), digest_digits);
  std::memcpy(record.data() + digest_digits, &error, sizeof error);
  const std::uint64_t at = head_bytes + finished_.size() * record_bytes;
  finished_.push_back(error);
  return with_subject(file_.notes_path(),
                      io::write_fully(notes_.get(), at, record, "write the notes"));
}

Result<void> KeptPart::give_name() {
  if (is_named_) return {};
  // With the notes of no work a file of this name may still be this result, made earlier.
  const auto is_there = [&] {
    const auto there = read_file(plan_.path);
    const auto made = read_file(file_.path());
    return there && made && are_equal(**there, **made);
  };
  if (!plan_.resumes || !is_there()) {
    INGOT_TRY_VOID(file_.give_name(plan_.path, plan_.may_replace, io::Notes::stay));
  }
  is_named_ = true;
  io::flush_directory(io::directory_of(plan_.path));
  return {};
}

void KeptPart::forget() const {
  if (!is_named_) return;
  file_.remove();
  // The lock went with the name of the part. Notes that another process has meanwhile are its own.
  auto again = io::StagedFile::open(file_.path(), file_.notes_path(), "written");
  if (again && again->is_new() && again->open_notes()) again->remove();
}

void KeptPart::remove() const noexcept {
  if (!is_named_) file_.remove();
}

}  // namespace ingot::quantization
