// SPDX-License-Identifier: MIT
#include "text/report_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <utility>

namespace ingot::cli {
namespace {

constexpr std::string_view page_style =
    "<style>body{font:15px/1.5 system-ui,sans-serif;margin:2rem "
    "auto;max-width:90rem;padding:0 "
    "1rem;color-scheme:light dark}table{border-collapse:collapse;width:100%;"
    "font-variant-numeric:tabular-nums}th,td{text-align:left;padding:.2rem .8rem .2rem 0;"
    "border-bottom:1px solid #8884}td.bar{position:relative;min-width:8rem}"
    "td.bar i{position:absolute;left:0;bottom:.15rem;height:.2rem;background:#b4530a}"
    "svg{width:100%;height:12rem}</style>\n";

void write_page(Output& out, const ReportWriter& report) {
  const std::string title = escape_html(report.title);
  out.print(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<title>{}</title>\n",
      title);
  out.write(page_style);
  out.print("</head><body><h1>{}</h1>\n", title);
  report.write_body(out);
  out.write("</body></html>\n");
}

}  // namespace

std::string escape_html(std::string_view text) {
  static constexpr std::array<std::pair<char, std::string_view>, 5> references = {
      {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}}};
  std::string result;
  for (const char c : text) {
    const auto* special =
        std::ranges::find(references, c, &std::pair<char, std::string_view>::first);
    special == references.end() ? result.push_back(c) : void(result.append(special->second));
  }
  return result;
}

Result<void> print_to(OutputFile& file, const std::function<void(Output& out)>& print) {
  Result<void> written;
  Output out([&](std::string_view text) {
    if (written) written = file.write(std::as_bytes(std::span(text)));
    return written ? 0 : EIO;
  });
  print(out);
  out.flush();
  return written;
}

Result<void> write_report_file(const std::string& path, bool replace, const ReportWriter& report) {
  INGOT_TRY(OutputFile file, OutputFile::create(path, replace));
  INGOT_TRY_VOID(print_to(file, [&](Output& out) {
    if (path.ends_with(".html") || path.ends_with(".htm")) return write_page(out, report);
    JsonStream json(out);
    report.write_json(json);
  }));
  return file.commit();
}

}  // namespace ingot::cli
