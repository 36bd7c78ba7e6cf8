// SPDX-License-Identifier: MIT
#include "cli/remote_models.hpp"

#include <fmt/core.h>

#include <chrono>
#include <filesystem>
#include <ingot/remote.hpp>
#include <ingot/text.hpp>
#include <map>
#include <optional>
#include <system_error>
#include <vector>

#include "cli/command.hpp"
#include "cli/console.hpp"
#include "cli/interrupt.hpp"
#include "cli/option_group.hpp"
#include "cli/remote/remote_state.hpp"
#include "text/whole_file.hpp"

namespace ingot::cli {
namespace {

constexpr std::uint64_t unasked_bytes = std::uint64_t{1} << 30;
/// Few enough to be there before a remark is read.
constexpr std::uint64_t unremarked_bytes = std::uint64_t{16} << 20;

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

/// Whether an argument is a name on the Hub rather than a mistyped path: no folder has the name of
/// the organisation, and the argument does not end like a file name.
bool is_meant_as_hub_name(const std::string& argument) {
  return is_hub_name(argument) && !format_by_ending(argument) &&
         !exists(argument.substr(0, argument.find('/')));
}

bool is_file_address(std::string_view text) { return text.starts_with("file://"); }

}  // namespace

RemoteModels::RemoteModels() : state_(std::make_unique<State>()) {}
RemoteModels::~RemoteModels() = default;

void RemoteModels::add_options(CLI::App& program) {
  State& state = *state_;
  const OptionGroup group(program, remote_group);
  add_text(program, "--revision", state.revision, "REV", "Branch, tag or commit of a repository");
  add_text(program, "--token-file", state.token_file, "PATH",
           "Read the hub's token from a file; default: HF_TOKEN");
  add_texts(program, "--header", state.headers, "'K: V'",
            "Send this line to the first server, and to no other");
  add_switch(program, "--offline", state.is_offline, "Use only what is on this system already");
  add_switch(program, "--no-cache", state.uses_no_cache,
             "Neither use nor fill the cache of headers ('ingot help cache')");
  add_switch(program, "--yes", state.allows_all_bytes, "Fetch more than 1 GiB without a question");
  add_switch(program, "--allow-private", state.allows_private,
             "Follow redirects into local networks");
  add_switch(program, "--netrc", state.uses_netrc, "Take passwords from ~/.netrc");
  add_switch(program, "--insecure", state.is_insecure, "Do not check certificates");
  add_number(program, "--connect-timeout", state.connect_seconds, 1, 3600,
             "Seconds for a connection; default: 10");
  add_number(program, "--answer-timeout", state.answer_seconds, 1, 3600,
             "Seconds from there to the answer; default: 30");
  add_number(program, "--stall-timeout", state.stall_seconds, 1, 3600,
             "Seconds with less than 1 KiB each; default: 30");
  add_number(program, "--open-timeout", state.open_seconds, 1, 86400,
             "Seconds to open a model; default: 120");
  add_number(program, "--retries", state.retries, 0, 100,
             "Retries in a row without progress; default: 5");
}

std::string RemoteModels::keep_secret(const std::string& argument) {
  const Result<Reference> reference = parse_reference(argument);
  if (!reference || reference->kind != ReferenceKind::web) return argument;
  const std::string shown = reference->display();
  if (shown == argument || argument.find_first_of("@?") == std::string::npos) return argument;
  state_->secrets[shown] = argument;
  return shown;
}

bool RemoteModels::has_secret(const std::string& argument) const {
  return state_->secrets.contains(argument);
}

bool RemoteModels::is_meant(const std::string& argument) const {
  if (is_remote_reference(argument)) return has_secret(argument) || !exists(argument);
  return is_file_address(argument) || is_meant_as_hub_name(argument);
}

Result<Reference> RemoteModels::State::reference_of(const std::string& argument) const {
  const auto secret = secrets.find(argument);
  if (secret != secrets.end()) return parse_reference(secret->second);
  const bool is_written_so = is_remote_reference(argument) || is_file_address(argument);
  return is_written_so ? parse_reference(argument) : parse_hub_reference(argument);
}

Result<RemoteOptions> RemoteModels::State::options() {
  RemoteOptions options = remote_options();
  options.revision = revision;
  if (!token_file.empty()) {
    INGOT_TRY(std::string text, read_whole(token_file));
    options.hub_token = text.substr(0, text.find_first_of("\r\n \t"));
  }
  options.headers = headers;
  options.is_offline = is_offline;
  if (uses_no_cache) options.cache_folder.clear();
  options.allows_private = allows_private;
  options.checks_certificates = !is_insecure;
  options.uses_netrc = uses_netrc;
  options.times.connect = std::chrono::seconds(connect_seconds);
  options.times.first_byte = std::chrono::seconds(answer_seconds);
  options.times.stall = std::chrono::seconds(stall_seconds);
  options.times.header = std::chrono::seconds(open_seconds);
  options.max_retries = static_cast<int>(retries);
  if (!allows_all_bytes) options.max_fetch_bytes = unasked_bytes;
  options.should_stop = [] { return stop_signal() != 0; };
  options.on_request = [this](const RemoteRequest& request) {
    const std::lock_guard lock(mutex);
    requests.push_back(request);
  };
  return options;
}

void RemoteModels::State::report_requests(Console& console, const std::string& argument) {
  const std::lock_guard lock(mutex);
  if (console.is_verbose()) {
    for (const RemoteRequest& request : requests) {
      console.remark(argument, fmt::format("{}{}: status {}, {} in {:.1f} ms", request.address,
                                           request.range.empty() ? "" : " bytes " + request.range,
                                           request.status, format_bytes(request.body_bytes),
                                           static_cast<double>(request.time.count()) / 1000));
    }
  }
  requests.clear();
}

/// Whether `bytes` may be fetched: few always, many only if the user agrees.
Result<void> RemoteModels::State::permit(Console& console, const std::string& argument,
                                         std::uint64_t size_bytes) const {
  if (size_bytes == 0) return {};
  const std::string needed = "this reads " + format_bytes(size_bytes) + " from the server";
  if (size_bytes <= unasked_bytes || allows_all_bytes) {
    if (size_bytes > unremarked_bytes || console.is_verbose()) console.remark(argument, needed);
    return {};
  }
  const std::string remedy = "--yes allows it; 'ingot download' fetches the file once and for all";
  if (console.agrees(argument, needed)) return {};
  return fail(Errc::too_much_to_fetch, {}, needed + "; " + remedy);
}

/// Prints remarks on a reference before anything is fetched.
void RemoteModels::State::remark(Console& console, const std::string& argument,
                                 const Reference& reference) const {
  if (!is_remote_reference(argument) && !secrets.contains(argument)) {
    console.remark(argument, "no file of this name; taken for " + reference.display());
  }
  if (is_insecure) console.remark(argument, "certificates are NOT checked");
}

Result<OpenedModel> RemoteModels::open(Console& console, const std::string& argument,
                                       const OpenAnyOptions& open_options) {
  INGOT_TRY(const Reference reference, state_->reference_of(argument));
  if (reference.kind == ReferenceKind::local) return open_any(reference.path, open_options);
  state_->remark(console, argument, reference);
  INGOT_TRY(const RemoteOptions options, state_->options());
  if (!state_->first_request) state_->first_request = std::chrono::steady_clock::now();
  INGOT_TRY(const RemoteStore* store,
            state_->keep(console, argument, RemoteStore::open(reference, options)));
  Result<OpenedModel> opened = store->open_model(open_options);
  state_->report_requests(console, argument);
  return opened;
}

Result<Model> RemoteModels::open_beside(const std::string& argument,
                                        const OpenOptions& open_options) const {
  INGOT_TRY(const Reference reference, state_->reference_of(argument));
  INGOT_TRY(RemoteOptions options, state_->options());
  options.on_request = {};
  INGOT_TRY(const RemoteStore store, RemoteStore::open(reference, options));
  INGOT_TRY(OpenedModel opened, store.open_model({open_options, {}, {}}));
  return std::move(opened.model);
}

Result<std::vector<std::string>> RemoteModels::repositories(const std::string& argument) const {
  INGOT_TRY(const RemoteOptions options, state_->options());
  return RemoteStore::list_repositories(argument.substr(argument.find(':') + 1), options);
}

std::string RemoteModels::plain_name(const std::string& argument) const {
  const Result<Reference> reference = state_->reference_of(argument);
  return reference ? reference->display() : argument;
}

std::optional<RemoteFileName> RemoteModels::opened_file(const std::string& argument) const {
  for (const auto& [opened, store] : state_->stores) {
    if (opened == argument) return RemoteFileName{store.name(), store.commit()};
  }
  return std::nullopt;
}

bool RemoteModels::is_used() const { return !state_->stores.empty(); }

Result<void> RemoteModels::prepare(Console& console, const std::string& argument,
                                   const Model& model, std::span<const ModelRange> ranges,
                                   std::uint64_t passes) {
  const auto opened = std::find_if(state_->stores.rbegin(), state_->stores.rend(),
                                   [&](const auto& entry) { return entry.first == argument; });
  if (opened == state_->stores.rend()) return {};
  std::uint64_t total_bytes = 0;
  std::map<std::size_t, std::vector<FileRange>> by_file;
  for (const ModelRange& range : ranges) {
    total_bytes += passes * range.size_bytes;
    by_file[range.file].push_back({range.file_offset, range.size_bytes});
  }
  INGOT_TRY_VOID(state_->permit(console, argument, total_bytes));
  opened->second.allow_more_bytes(total_bytes);
  const std::vector<RemoteFile> files = opened->second.model_files();
  for (const auto& [position, file_ranges] : by_file) {
    const std::uint32_t index = model.files()[position].index;
    if (index < files.size()) opened->second.expect(files[index].name, file_ranges);
  }
  return {};
}

Traffic RemoteModels::traffic() const {
  Traffic total;
  for (const auto& [argument, store] : state_->stores) {
    const RemoteTraffic traffic = store.traffic();
    total.file_requests += traffic.file_requests;
    total.file_bytes += traffic.file_bytes;
    total.requests += traffic.requests;
    total.body_bytes += traffic.body_bytes;
    total.connections += traffic.connections;
    total.retries += traffic.retries;
  }
  if (!state_->first_request) return total;
  total.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - *state_->first_request)
          .count();
  return total;
}

}  // namespace ingot::cli
