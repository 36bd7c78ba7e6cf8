// SPDX-License-Identifier: MIT
// Reports of commands in files: a page, or JSON.
#pragma once

#include <functional>
#include <ingot/error.hpp>
#include <ingot/output_file.hpp>
#include <string>
#include <string_view>

#include "cli/json_stream.hpp"
#include "cli/output.hpp"

namespace ingot::cli {

/// The style of all pages, light and dark (text/shared_page.css).
extern const std::string_view shared_page_style;

/// `text` with `&`, `<`, `>` and quotes as references of HTML.
[[nodiscard]] std::string escape_html(std::string_view text);

/// Writes the output of `print` to a file; the caller commits it.
[[nodiscard]] Result<void> print_to(OutputFile& file,
                                    const std::function<void(Output& out)>& print);

/// The writers of a report in both forms.
struct ReportWriter {
  std::string title;                            ///< The title of the page; safe to print.
  std::function<void(Output& out)> write_body;  ///< HTML below the heading.
  std::function<void(JsonStream& json)> write_json;
};

/// Writes a report to a file, which appears complete or not at all: a page without scripts if the
/// name ends in .html or .htm, else JSON.
/// @return  Errc::already_exists unless `replace`; errors of writing.
[[nodiscard]] Result<void> write_report_file(const std::string& path, bool replace,
                                             const ReportWriter& report);

}  // namespace ingot::cli
