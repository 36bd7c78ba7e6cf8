// SPDX-License-Identifier: MIT
#include "text/error_text.hpp"

#include <ingot/check.hpp>

namespace ingot::cli {

std::string error_text(std::string_view file, const Error& error) {
  const bool is_explained = error.code == Errc::not_gguf || error.code == Errc::truncated ||
                            error.code == Errc::tensor_outside_file;
  if (is_explained && file != "-" && !file.empty()) {
    const Finding finding = explain_refusal(std::string(file), error);
    if (finding.message != sentence_of(error.code)) {
      const bool is_cut = error.code != Errc::not_gguf;
      return finding.message + (is_cut ? "; fetch the file again in full" : "");
    }
  }
  Error shown = error;
  if (shown.subject == file) shown.subject.clear();  // the file is named already
  return shown.message();
}

}  // namespace ingot::cli
