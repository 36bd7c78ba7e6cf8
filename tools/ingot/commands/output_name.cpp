// SPDX-License-Identifier: MIT
#include "commands/output_name.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <ingot/text.hpp>
#include <memory>

#include "cli/console.hpp"
#include "cli/model_files.hpp"
#include "text/shard_part.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

namespace fs = std::filesystem;

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

void add_output(CLI::App& app, std::string& target, const std::string& name,
                const std::string& description) {
  const auto is_named = std::make_shared<std::string>();
  const auto take_as = [&target, is_named](const std::string& place) {
    return [&target, is_named, place](const std::string& text) {
      if (!is_named->empty() && *is_named != place) {
        throw CLI::ValidationError("-o and the argument are the same output; give one of them");
      }
      *is_named = place;
      target = text;
    };
  };
  app.add_option_function<std::string>(name, take_as("argument"), description);
  app.add_option_function<std::string>("-o,--output", take_as("option"), "The same as " + name)
      ->type_name(name)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

bool is_output_folder(const std::string& out) { return out.ends_with('/') || is_folder(out); }

std::string name_of_file(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

std::string base_name(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  std::string name = prefix_of(name_of_file(path));
  for (const std::string_view type : {"bf16", "f16", "f32"}) {
    if (name.size() <= type.size() + 1 || !lower_case(name).ends_with(type)) continue;
    const std::size_t end = name.size() - type.size() - 1;
    if (std::string_view("-._").find(name[end]) != std::string_view::npos) {
      name.resize(end);
      break;
    }
  }
  return name;
}

std::string output_path(const std::string& out, const std::string& name, const std::string& type,
                        std::string_view ending) {
  std::string path = out;
  if (is_output_folder(out))
    path = (fs::path(out) / "{name}-{type}").generic_string() + std::string(ending);
  replace_all(path, "{type}", type);
  replace_all(path, "{FTYPE}", type);
  replace_all(path, "{ftype}", lower_case(type));
  replace_all(path, "{name}", name);
  return path;
}

Result<void> make_output_folder(const std::string& out) {
  const std::size_t pattern = out.find('{');
  const std::string folder = out.ends_with('/') ? out : out.substr(0, out.rfind('/', pattern) + 1);
  if (folder.empty() || (pattern == std::string::npos && folder != out)) return {};
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return {};
  return fail(Errc::io_error, folder, "cannot make the folder: " + error.message());
}

Result<void> resolve_output(std::string& out, const std::string& name, bool is_dry_run) {
  if (!is_output_folder(out)) return {};
  if (!is_dry_run) INGOT_TRY_VOID(make_output_folder(out));
  out = (fs::path(out) / name).generic_string();
  return {};
}

std::string copy_name(const std::string& path, std::string_view ending) {
  return prefix_of(name_of_file(path)) + std::string(ending);
}

std::string written_text(std::string_view out, std::string_view size, std::string_view details) {
  return fmt::format("wrote {} ({}){}{}", escape(out), size, details.empty() ? "" : ": ", details);
}

void remark_written(Console& console, const std::string& out, std::string_view details) {
  std::error_code error;
  std::uint64_t size_bytes = 0;
  if (fs::is_directory(out, error)) {
    for (const auto& entry : fs::directory_iterator(out, error)) {
      if (entry.is_regular_file(error)) size_bytes += entry.file_size(error);
    }
  } else {
    size_bytes = fs::file_size(out, error);
  }
  if (!error) console.remark({}, written_text(out, format_bytes(size_bytes), details));
}

}  // namespace ingot::cli
