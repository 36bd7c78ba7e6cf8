// SPDX-License-Identifier: MIT
#include "text/error_text.hpp"

#include <ingot/check.hpp>
#include <ingot/text.hpp>

namespace ingot::cli {

std::string error_text(std::string_view file, const Error& error) {
  const bool is_explained = error.code == Errc::not_gguf || error.code == Errc::truncated ||
                            error.code == Errc::tensor_outside_file;
  if (is_explained && file != "-" && !file.empty()) {
    const Finding finding = explain_refusal(std::string(file), error);
    if (finding.message != sentence_of(error.code)) {
      const std::string_view advice = advice_of(error.code);
      const bool is_named = finding.file.empty() || finding.file == file;
      return (is_named ? "" : "\"" + shown_name(finding.file) + "\": ") + finding.message +
             (advice.empty() ? "" : "; " + std::string(advice));
    }
  }
  Error shown = error;
  // The file is named already.
  if (shown.subject == file) shown.subject.clear();
  std::erase(shown.context, file);
  return shown.message();
}

std::string shown_name(std::string_view name) {
  constexpr std::size_t max_columns = 160;
  return escape_shortened(name, max_columns);
}

}  // namespace ingot::cli
