// SPDX-License-Identifier: MIT
// Why a file does not open, in more detail than the error of the reader.
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/messages.hpp"
#include "check/pretended_source.hpp"
#include "ingot/check.hpp"
#include "ingot/text.hpp"

namespace ingot {
namespace {

constexpr std::size_t head_bytes = 512;

std::vector<std::byte> read_head(const Source& source) {
  std::vector<std::byte> head(
      static_cast<std::size_t>(std::min<std::uint64_t>(head_bytes, source.size_bytes())));
  if (!source.read(0, head)) head.clear();
  return head;
}

/// "the file is an HTML page: ..."
std::string explain_content(const Source& source) {
  const std::string_view content = identify_content(read_head(source), source.size_bytes());
  return content.empty() ? std::string() : "the file is " + std::string(content);
}

/// "2.86 of 4.03 MiB", "977 KiB of 4.03 MiB"
std::string part_text(std::uint64_t part, std::uint64_t whole) {
  std::string text = format_bytes(part);
  const std::string of = format_bytes(whole);
  const std::size_t unit = text.find(' ');
  if (of.ends_with(text.substr(unit))) text.resize(unit);
  return text + " of " + of;
}

/// How much of a file is there whose table is whole and whose data is not.
std::string explain_missing_data(const std::string& path) {
  const Result<check::CutFile> cut = check::open_cut_file(path);
  if (!cut) return {};
  const TensorInfo* first = nullptr;
  std::uint64_t incomplete_count = 0;
  for (const TensorInfo& tensor : cut->model.tensors()) {
    if (check::is_complete(cut->model, cut->present_bytes, tensor)) continue;
    ++incomplete_count;
    if (first == nullptr || tensor.data_offset < first->data_offset) first = &tensor;
  }
  if (first == nullptr) return {};
  return "cut off at " + part_text(cut->present_bytes, cut->needed_bytes) + "; " +
         std::to_string(incomplete_count) + " of " + plural(cut->model.tensors().size(), "tensor") +
         " incomplete, first " + shown_name(first->name);
}

/// The reader's message without the place, which is a member of a finding, and the advice: the rule
/// has a remedy.
std::string plain_message(const Error& error) {
  constexpr std::size_t max_detail_columns = 400;
  std::string message(sentence_of(error.code));
  if (!error.detail.empty())
    message += " (" + escape_shortened(error.detail, max_detail_columns) + ")";
  if (category_of(error.code) == ErrorCategory::lenient) {
    message += "; --lenient opens it";
  }
  return message;
}

constexpr Errc about_a_tensor[] = {
    Errc::tensor_name_too_long, Errc::tensor_name_invalid,     Errc::tensor_duplicate,
    Errc::too_many_dimensions,  Errc::dimension_count_invalid, Errc::tensor_type_removed,
    Errc::tensor_type_unknown,  Errc::row_not_whole_blocks,    Errc::size_overflow,
    Errc::offset_unaligned,     Errc::tensor_outside_file,     Errc::tensor_overlap};
constexpr Errc about_a_key[] = {Errc::key_duplicate,      Errc::key_invalid,
                                Errc::value_type_unknown, Errc::nesting_too_deep,
                                Errc::bool_invalid,       Errc::alignment_wrong_type,
                                Errc::alignment_invalid,  Errc::alignment_too_small};

bool is_among(std::span<const Errc> codes, Errc code) noexcept {
  return std::ranges::find(codes, code) != codes.end();
}

/// The more precise words; empty if there are none.
std::string explain(const std::string& path, const Error& error) {
  if (path.empty()) return {};
  const Result<std::unique_ptr<Source>> source = read_file(path);
  if (!source) return {};
  if (error.code == Errc::not_gguf) return explain_content(**source);
  if (error.code == Errc::tensor_outside_file) return explain_missing_data(path);
  if (error.code == Errc::count_exceeds_file) {
    return plain_message(error) + "; a file of which only the first " +
           format_bytes((*source)->size_bytes()) + " arrived looks like this, too";
  }
  if (error.code != Errc::truncated) return {};
  if ((*source)->size_bytes() < 4) return explain_content(**source);
  return "cut off within the header, after " + format_bytes((*source)->size_bytes()) +
         (error.subject.empty() ? "" : ", at \"" + escape_shortened(error.subject, 80) + "\"");
}

}  // namespace

Finding explain_refusal(const std::string& path, const Error& error) {
  Finding finding;
  finding.rule = find_check_rule(name_of(error.code));
  // An error of another category is not about a file: its sentence is all there is.
  if (finding.rule == nullptr) finding.rule = find_check_rule(name_of(Errc::not_gguf));
  finding.file_offset = error.file_offset;
  if (!error.context.empty()) finding.file = error.context.back();
  finding.message = explain(finding.file.empty() ? path : finding.file, error);
  if (!finding.message.empty()) return finding;  // it is about the file
  finding.message = plain_message(error);
  if (is_among(about_a_tensor, error.code)) finding.tensor = error.subject;
  if (is_among(about_a_key, error.code)) finding.key = error.subject;
  return finding;
}

}  // namespace ingot
