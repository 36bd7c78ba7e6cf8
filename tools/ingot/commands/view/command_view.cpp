// SPDX-License-Identifier: MIT
// `ingot view [FILE]...` -- models in a page of the browser.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <ingot/shard_name.hpp>
#include <ingot/text.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "cli/json_stream.hpp"
#include "cli/model_files.hpp"
#include "cli/option_group.hpp"
#include "commands/output_name.hpp"
#include "commands/view/server.hpp"
#include "system/sockets.hpp"
#include "text/whole_file.hpp"

namespace ingot::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* examples =
    "Examples:\n"
    "  ingot view model.gguf\n"
    "  ingot view Q4_K_M.gguf Q5_K_M.gguf --open   # side by side\n"
    "  ingot view hf:org/repo/model.gguf\n"
    "  ingot view                                  # drop files on the page\n"
    "\n"
    "Prints the address of a page that shows the models: facts, findings, sizes,\n"
    "memory, tokens, prompts, bytes. The server answers only this machine, and only\n"
    "those who know the address, and hands out the files that are named here, with\n"
    "the shards of their sets, and no other. The page reads the parts of them that it\n"
    "shows. Ctrl-C ends it.";

struct Options {
  std::vector<std::string> files;
  std::string page;
  std::uint16_t port = 0;
  bool is_opened = false;
};

/// A model of the list that the page begins with.
struct ListedModel {
  std::string name;
  std::string address;  ///< Relative to the page, or of another server.
  std::string path;     ///< Of a file.
};

/// What the files of the page are, by their endings; others are not served.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> page_types = {{
    {".html", "text/html; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".json", "application/json"},
    {".svg", "image/svg+xml"},
    {".wasm", "application/wasm"},
}};
constexpr std::size_t max_page_file_bytes = std::size_t{16} << 20;

/// Where the page is: installed beside the program, or left beside its build by scripts/web. Beside
/// an installed program that would be a folder that anyone may have made.
std::optional<fs::path> find_page() {
  const fs::path program = system::program_path();
  if (program.empty()) return std::nullopt;
  const fs::path folder = program.parent_path();
  std::error_code ignored;
  const fs::path installed = folder / "../share/ingot/page";
  if (fs::exists(installed / "index.html", ignored)) return installed;
  const fs::path built = folder / "../../web/page";
  const bool is_build = fs::exists(folder / "../CMakeCache.txt", ignored);
  if (is_build && fs::exists(built / "index.html", ignored)) return built;
  return std::nullopt;
}

Result<void> add_page(const fs::path& folder, Resources& resources) {
  std::error_code error;
  for (fs::recursive_directory_iterator file(folder, error), end; !error && file != end;
       file.increment(error)) {
    const std::string ending = file->path().extension().string();
    const auto type = std::find_if(page_types.begin(), page_types.end(),
                                   [&](const auto& row) { return row.first == ending; });
    if (type == page_types.end() || !file->is_regular_file(error)) continue;
    INGOT_TRY(std::string content, read_whole(file->path().string(), max_page_file_bytes));
    const std::string name = file->path().lexically_relative(folder).generic_string();
    add_content(resources, name == "index.html" ? "" : name, type->second, std::move(content));
  }
  if (error) return fail(Errc::io_error, folder.string(), error.message());
  if (resources.contains("")) return {};
  return fail(Errc::io_error, folder.string(), "there is no index.html in it");
}

/// A name as a part of an address (RFC 3986).
std::string encoded(std::string_view name) {
  std::string text;
  for (const char letter : name) {
    const auto code = static_cast<unsigned char>(letter);
    const bool is_plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                          (letter >= '0' && letter <= '9') ||
                          std::string_view("-._~").find(letter) != std::string_view::npos;
    is_plain ? void(text += letter) : void(text += fmt::format("%{:02X}", code));
  }
  return text;
}

/// Adds a file, and those of its set that lie beside it, which the page finds by their names.
Result<ListedModel> add_model(const std::string& file, std::size_t number, Resources& resources) {
  const auto add = [&](const std::string& path) -> Result<ListedModel> {
    INGOT_TRY(auto source, read_file(path));
    const std::string name = fs::path(path).filename().string();
    const std::string address = fmt::format("models/{}/{}", number, encoded(name));
    resources[address] = {"application/octet-stream", {}, std::move(source)};
    return ListedModel{name, address, path};
  };
  for (const std::string& path : files_of_set(file)) {
    if (name_of_file(path) != name_of_file(file)) INGOT_TRY_VOID(add(path));
  }
  return add(file);
}

/// What the page opens for a model on a server, or nothing: it has no passwords, and knows neither
/// quantizations nor other registries.
std::optional<std::string> name_for_page(const RemoteModels& remote, const std::string& file) {
  if (file.starts_with("http://") || file.starts_with("https://")) {
    return remote.has_secret(file) ? std::nullopt : std::optional(file);
  }
  const std::string_view hub = "hf:";
  const std::string name = file.starts_with(hub) ? file : std::string(hub) + file;
  return name.find(':', hub.size()) == std::string::npos ? std::optional(name) : std::nullopt;
}

/// The model that an argument names; nothing if it is of one of the sets that are there already.
Result<std::optional<ListedModel>> list_model(const std::string& file, const RemoteModels& remote,
                                              std::size_t number, std::set<std::string>& sets,
                                              Resources& resources) {
  const bool is_local = file.starts_with("file://");
  if (remote.is_meant(file) && !is_local) {
    const std::optional<std::string> name = name_for_page(remote, file);
    if (name) return ListedModel{*name, *name, {}};
    return fail(Errc::reference_invalid, {},
                "the page opens files, addresses without a password or a signature, and "
                "hf:ORG/REPO[@REV][/FILE]; 'ingot download' fetches others");
  }
  const std::string path = is_local ? remote.local_name(file) : file;
  const auto shard = parse_shard_name(path);
  const bool is_new = !shard || sets.insert(shard_file_name(shard->prefix, 0, shard->count)).second;
  if (!is_new) return std::nullopt;
  return add_model(path, number, resources);
}

/// Files of the same name in several folders are shown with their folders.
void tell_apart(std::vector<ListedModel>& models) {
  std::map<std::string, int> counts;
  for (const ListedModel& model : models) ++counts[model.name];
  for (ListedModel& model : models) {
    if (counts[model.name] > 1 && !model.path.empty()) model.name = model.path;
  }
}

/// The list that the page asks for.
std::string list_of(const std::vector<ListedModel>& models) {
  std::string text;
  Output output([&](std::string_view part) {
    text += part;
    return 0;
  });
  JsonStream json(output);
  json.begin_array();
  for (const ListedModel& model : models) {
    const auto object = json.object();
    json.member("name", model.name);
    json.member("address", model.address);
  }
  json.end();
  output.flush();
  return text;
}

ExitCode run(const Options& options, Console& console) {
  Resources resources;
  std::optional<fs::path> page = fs::path(options.page);
  if (options.page.empty()) page = find_page();
  if (!page) {
    return console.refuse(
        "view", "the page is neither installed beside the program nor built; scripts/web builds it",
        ExitCode::system);
  }
  INGOT_CLI_TRY_VOID(add_page(*page, resources), console, page->string());

  std::vector<ListedModel> models;
  std::set<std::string> sets;
  for (const std::string& file : options.files) {
    INGOT_CLI_TRY(std::optional<ListedModel> model,
                  list_model(file, console.remote(), models.size(), sets, resources), console,
                  file);
    if (model) models.push_back(*std::move(model));
  }
  tell_apart(models);
  add_content(resources, "models.json", "application/json", list_of(models));

  std::array<std::byte, 16> secret{};
  Gate gate{options.port, {}};
  if (!system::draw_random(secret)) {
    return console.refuse("view", "the system gives no random bytes", ExitCode::system);
  }
  for (const std::byte byte : secret) {
    gate.token += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  }
  const system::Socket listener = system::listen_on_loopback(gate.port);
  if (listener == system::no_socket) {
    return console.refuse(fmt::format("port {}", options.port),
                          std::generic_category().message(errno), ExitCode::system);
  }

  const std::string address = fmt::format("http://127.0.0.1:{}/{}/", gate.port, gate.token);
  if (console.is_json()) {
    JsonStream json(console.out());
    const auto object = json.object();
    json.member("address", address);
  } else {
    console.out().print("{}\n", address);
  }
  if (console.out().flush() != 0) return ExitCode::system;  // nobody would know the address
  if (options.is_opened && !system::open_browser(address)) {
    console.remark("view", "no browser could be started; open the address in one");
  }
  INGOT_CLI_TRY_VOID(serve(listener, gate, resources), console, "view");
  return ExitCode::done;
}

}  // namespace

void add_view_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command =
      add_command(program, "view", "Show models in a page of the browser", examples);
  add_argument(command, "FILE", options->files, "GGUF files, or names of models on servers");
  add_switch(command, "--open", options->is_opened, "Open the page in the browser");
  add_number(command, "--port", options->port, 1, 65535, "The port; default: any that is free");
  add_text(command, "--page", options->page, "FOLDER",
           "The page, if it is not where scripts/web leaves it");
  on_run(command, [options, &program, &console] {
    for (const CLI::Option* option : std::as_const(program).get_options()) {
      if (option->get_group() != remote_group || option->count() == 0) continue;
      return console.finish(console.refuse(
          option->get_name(), "the browser fetches what is on servers, and takes no such option"));
    }
    console.finish(run(*options, console));
  });
}

}  // namespace ingot::cli
