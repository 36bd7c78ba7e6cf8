// SPDX-License-Identifier: MIT
// The program without remote reading: a reference is known, and refused in words.

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "cli/console.hpp"
#include "cli/remote/stored_file.hpp"
#include "cli/remote_models.hpp"

namespace ingot::cli {
namespace {

constexpr const char* not_built =
    "this program was built without remote reading; fetch the file first";

}  // namespace

struct RemoteModels::State {};

RemoteModels::RemoteModels() = default;
RemoteModels::~RemoteModels() = default;

void RemoteModels::add_options(CLI::App&) {}

std::string RemoteModels::keep_secret(const std::string& argument) { return argument; }

bool RemoteModels::has_secret(const std::string& argument) const {
  return argument.find("://") != argument.npos && argument.find_first_of("@?") != argument.npos;
}

bool RemoteModels::is_meant(const std::string& argument) const {
  constexpr std::array<std::string_view, 5> prefixes = {"http://", "https://",
                                                        "hf:", "ollama:", "ms:"};
  std::error_code ignored;
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return argument.starts_with(prefix); }) &&
         !std::filesystem::exists(argument, ignored);
}

Result<OpenedModel> RemoteModels::open(Console&, const std::string&, const OpenAnyOptions&) {
  return fail(Errc::remote_unavailable, {}, not_built);
}

Result<Model> RemoteModels::open_beside(const std::string&, const OpenOptions&) const {
  return fail(Errc::remote_unavailable, {}, not_built);
}

bool RemoteModels::is_repository(const std::string&) const { return false; }

Result<std::vector<std::string>> RemoteModels::repositories(const std::string&) const {
  return fail(Errc::remote_unavailable, {}, not_built);
}

std::string RemoteModels::plain_name(const std::string& argument) const { return argument; }

Result<std::vector<RepositoryModel>> RemoteModels::list(Console&, const std::string&) {
  return std::vector<RepositoryModel>();
}

Result<RemoteFolder> RemoteModels::open_folder(Console&, const std::string&) {
  return fail(Errc::remote_unavailable, {}, not_built);
}

Result<void> RemoteModels::prepare_files(Console&, const std::string&, std::span<const std::string>,
                                         std::uint64_t) {
  return {};
}

std::string RemoteModels::local_name(const std::string& argument) const { return argument; }

std::optional<RemoteFileName> RemoteModels::opened_file(const std::string&) const {
  return std::nullopt;
}
bool RemoteModels::is_used() const { return false; }

Result<void> RemoteModels::prepare(Console&, const std::string&, const Model&,
                                   std::span<const ModelRange>, std::uint64_t) {
  return {};
}

Traffic RemoteModels::traffic() const { return {}; }

Result<std::string> find_here(Console& console, const std::string& argument) {
  if (!console.remote().is_meant(argument)) return argument;
  return fail(Errc::remote_unavailable, {}, not_built);
}

}  // namespace ingot::cli
