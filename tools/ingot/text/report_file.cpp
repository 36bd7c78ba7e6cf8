// SPDX-License-Identifier: MIT
#include "text/report_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <utility>

namespace ingot::cli {
namespace {

/// What is of these pages alone: tables with bars in cells, and charts.
constexpr std::string_view table_style =
    "th,td{text-align:left;white-space:nowrap;padding:.28rem .9rem .28rem 0;"
    "border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums}"
    "th{color:var(--soft);font-size:.82rem}td:first-child{font-family:var(--mono)}"
    "td.bar{position:relative;min-width:8rem}"
    "td.bar i{position:absolute;left:0;bottom:.1rem;height:.2rem;background:var(--accent)}"
    "section p{margin-bottom:.6rem}svg{width:100%;height:12rem}";

void write_page(Output& out, const ReportWriter& report) {
  const std::string title = escape_html(report.title);
  out.print(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>",
      title);
  out.write(shared_page_style);
  out.write(table_style);
  out.print(
      "</style></head><body><p class=\"kicker\">Ingot report</p><h1>{}</h1>\n"
      "<section class=\"wide\">\n",
      title);
  report.write_body(out);
  out.write("</section></body></html>\n");
}

}  // namespace

std::string escape_html(std::string_view text) {
  static constexpr std::array<std::pair<char, std::string_view>, 5> references = {
      {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}}};
  std::string result;
  for (const char c : text) {
    const auto special =
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
