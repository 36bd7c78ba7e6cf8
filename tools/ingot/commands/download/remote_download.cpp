// SPDX-License-Identifier: MIT
#include "commands/download/remote_download.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <ingot/download.hpp>
#include <ingot/text.hpp>

#include "cli/progress.hpp"
#include "commands/json_members.hpp"
#include "commands/output_name.hpp"

namespace ingot::cli {
namespace {

void print_file(Console& console, const std::string& path, const DownloadedFile& file) {
  const std::string_view verdict = file.is_verified ? "verified" : "not verified";
  const std::string facts =
      fmt::format("SHA-256 {}, {}", file.sha256,
                  console.paint(file.is_verified ? Style::good : Style::warning, verdict));
  console.out().print("{}\n", file.was_there
                                  ? fmt::format("{} was there ({}): {}", escape(path),
                                                format_bytes(file.size_bytes), facts)
                                  : written_text(path, format_bytes(file.size_bytes), facts));
}

void write_file(JsonStream& json, const std::string& name, const std::string& path,
                const DownloadedFile& file) {
  const auto object = json.object(Layout::line);
  json.member("name", name);
  json.member("path", path);
  write_members(json, file);
}

ExitCode status_of(Console& console, const std::string& path, const Error& error) {
  const ExitCode status = console.fail(path, error);
  return error.code == Errc::digest_mismatch ? ExitCode::negative : status;
}

}  // namespace

ExitCode download_model(Console& console, const DownloadRequest& request, JsonStream& json) {
  const OrderlyStop orderly_stop;
  INGOT_CLI_TRY(const RemoteStore* const store,
                console.remote().open_store(console, request.reference), console,
                request.reference);
  for (const RemoteFile& wanted : store->model_files()) {
    INGOT_CLI_TRY(const std::string name, local_name(wanted.name), console, request.reference);
    const std::string path = request.folder == "."
                                 ? name
                                 : (std::filesystem::path(request.folder) / name).generic_string();
    Progress progress(console, path, wanted.size_bytes.value_or(0));
    const GoOn go_on = progress.go_on();
    DownloadOptions options;
    options.connections = request.connections;
    options.may_replace = request.may_replace;
    options.progress = [&](std::uint64_t done, std::uint64_t total) {
      progress.set_total(total);
      return go_on(done);
    };
    const Result<DownloadedFile> file = download(*store, wanted.name, path, options);
    if (!file) return status_of(console, path, file.error());
    if (!file->reason_to_restart.empty()) {
      console.remark(path, "began anew: " + file->reason_to_restart);
    }
    if (!file->is_verified) console.remark(path, "not verified: the server names no digest");
    if (console.is_json()) {
      write_file(json, wanted.name, path, *file);
    } else {
      print_file(console, path, *file);
    }
  }
  return ExitCode::done;
}

}  // namespace ingot::cli
