// SPDX-License-Identifier: MIT
#include "commands/publish/release_recipe.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <ingot/model_card.hpp>
#include <ingot/shard_name.hpp>
#include <ingot/text.hpp>
#include <utility>

#include "cli/help.hpp"
#include "cli/model_files.hpp"
#include "commands/card/card_data.hpp"
#include "commands/output_name.hpp"
#include "text/byte_count.hpp"
#include "text/whole_file.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

namespace fs = std::filesystem;

/// The members of a recipe as they are written.
struct Written {
  ReleaseRecipe& recipe;
  std::string max_shard_size = {};
  std::string shards = {};
};

enum class Need : bool { optional, required };

/// A member: a text, or a list of texts, of which a text alone is one.
struct Member {
  std::string_view name;
  std::string* text;
  std::vector<std::string>* list = nullptr;
  Need need = Need::optional;
};

auto members_of(Written& written) {
  ReleaseRecipe& recipe = written.recipe;
  return std::array{Member{"source", &recipe.source, nullptr, Need::required},
                    Member{"types", nullptr, &recipe.types, Need::required},
                    Member{"output", &recipe.output, nullptr, Need::required},
                    Member{"name", &recipe.name},
                    Member{"title", &recipe.title},
                    Member{"repository", &recipe.repository},
                    Member{"license", &recipe.license},
                    Member{"quantized_by", &recipe.quantized_by},
                    Member{"base_model", nullptr, &recipe.base_models},
                    Member{"imatrix", nullptr, &recipe.imatrix_files},
                    Member{"results", &recipe.results},
                    Member{"max_shard_size", &written.max_shard_size},
                    Member{"shards", &written.shards}};
}

/// Takes the value of a member; false if it has another form.
bool take(const CardValue& value, const Member& member) {
  if (member.text != nullptr) {
    *member.text = value.text;
    return value.is_text();
  }
  const std::span<const CardValue> items =
      value.is_text() ? std::span(&value, 1) : std::span(value.items);
  for (const CardValue& item : items) member.list->push_back(item.text);
  return value.kind != CardValue::Kind::object && value.kind != CardValue::Kind::null &&
         std::ranges::all_of(items, &CardValue::is_text);
}

/// Takes all members; returns what is wrong with them, or an empty text.
std::string take_all(const CardValue& document, Written& written) {
  const auto members = members_of(written);
  for (const std::string& name : document.names) {
    if (std::ranges::find(members, name, &Member::name) != members.end()) continue;
    std::vector<std::string> known;
    for (const Member& member : members) known.emplace_back(member.name);
    return fmt::format("a recipe has no \"{}\"; it may have {}{}", escape_shortened(name, 40),
                       joined(known, ", "), suggest(name, known));
  }
  for (const Member& member : members) {
    const char* const form = member.list == nullptr ? "a text" : "a list of texts";
    if (document.contains(member.name)) {
      if (!take(document[member.name], member)) {
        return fmt::format("\"{}\" must be {}", member.name, form);
      }
      const bool is_empty = member.text != nullptr && member.text->empty();
      if (!is_empty || member.need == Need::optional) continue;
    }
    if (member.need == Need::required) {
      return fmt::format("\"{}\" is missing, {}", member.name, form);
    }
  }
  return {};
}

/// Takes the limits of files; returns what is wrong with them, or an empty text.
std::string take_limits(const Written& written, SplitLimits& limits) {
  if (!written.max_shard_size.empty()) {
    const auto bytes = parse_byte_count(written.max_shard_size);
    if (!bytes) return "\"max_shard_size\" must be a size, such as 5G";
    limits.max_bytes = *bytes;
  }
  if (!written.shards.empty()) {
    const auto count = parse_number<std::uint32_t>(written.shards);
    if (!count || *count == 0 || *count > max_shard_count) {
      return fmt::format("\"shards\" must be a number from 1 to {}", max_shard_count);
    }
    limits.shard_count = *count;
  }
  const bool has_both = limits.max_bytes > 0 && limits.shard_count > 0;
  return has_both ? "\"shards\" and \"max_shard_size\" are two ways to cut; give one" : "";
}

/// What is wrong with the texts that end up in names and in the card, or an empty text.
std::string check_texts(const ReleaseRecipe& recipe) {
  if (recipe.types.empty()) return "\"types\" is empty";
  if (recipe.name.find('/') != recipe.name.npos) {
    return "\"name\" is the beginning of names of files, without a folder";
  }
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (recipe.name.starts_with('-') || recipe.name.starts_with('.') ||
      std::ranges::any_of(recipe.name, is_control)) {
    return "\"name\" is the beginning of names of files: without \"-\" or \".\" before it, in one "
           "line";
  }
  for (const std::string& base : recipe.base_models) {
    if (!repository_of(base).empty()) continue;
    return fmt::format("\"base_model\" is named as a hub names it, ORG/NAME, not \"{}\"",
                       escape_shortened(base, 40));
  }
  if (!recipe.repository.empty() && repository_of(recipe.repository) != recipe.repository) {
    return fmt::format("\"repository\" is named as a hub names it, ORG/NAME, not \"{}\"",
                       escape_shortened(recipe.repository, 40));
  }
  // A hub refuses a card with any other text there.
  if (lower_case(recipe.license).find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") !=
      std::string::npos) {
    return fmt::format(
        "\"license\" is a hub's name of a license, such as apache-2.0 or other, "
        "not \"{}\"",
        escape_shortened(recipe.license, 40));
  }
  return {};
}

/// Whether the files that are to be read are there and, of the results, what they should be.
ExitCode check_files(const ReleaseRecipe& recipe, Console& console) {
  for (const std::string& file : recipe.imatrix_files) {
    std::error_code error;
    if (fs::exists(file, error)) continue;
    return console.refuse(recipe.path, "\"imatrix\": there is no file " + escape(file));
  }
  std::error_code error;
  if (recipe.results.empty() || !fs::exists(recipe.results, error)) return ExitCode::done;
  CardFacts facts;
  INGOT_CLI_TRY_VOID(read_results(recipe.results, facts), console, recipe.results);
  return ExitCode::done;
}

}  // namespace

ExitCode read_recipe(const std::string& path, Console& console, ReleaseRecipe& recipe) {
  recipe.path = path;
  if (is_folder(path)) {
    const std::array names = {"release.yaml", "release.yml", "release.toml"};
    const auto found = std::ranges::find_if(names, [&](const char* name) {
      std::error_code ignored;
      return fs::exists(fs::path(path) / name, ignored);
    });
    recipe.path = (fs::path(path) / (found == names.end() ? names[0] : *found)).generic_string();
  }
  if (recipe.path.ends_with(".toml")) {
    return console.refuse(recipe.path,
                          "recipes are YAML: name it release.yaml, with lines such as `source: "
                          "model-F16.gguf` and `types: [Q4_K_M, Q8_0]`");
  }
  INGOT_CLI_TRY(const std::string text, read_whole(recipe.path, max_list_bytes), console,
                recipe.path);
  INGOT_CLI_TRY(const CardValue document, parse_yaml(text, recipe.path), console, recipe.path);
  Written written{recipe};
  std::string problem = take_all(document, written);
  if (problem.empty()) problem = take_limits(written, recipe.limits);
  if (problem.empty()) problem = check_texts(recipe);
  if (!problem.empty()) return console.refuse(recipe.path, problem);
  const fs::path folder = fs::path(recipe.path).parent_path();
  const auto place = [&](std::string& file) {
    if (!file.empty()) file = (folder / file).lexically_normal().generic_string();
  };
  std::string named = console.remote().local_name(recipe.source);
  if (!console.remote().is_meant(recipe.source)) {
    place(recipe.source);
    std::error_code error;
    named = fs::absolute(recipe.source, error).lexically_normal().generic_string();  // of "." too
  }
  for (std::string& file : recipe.imatrix_files) place(file);
  place(recipe.results);
  place(recipe.output);
  while (recipe.output.size() > 1 && recipe.output.back() == '/') recipe.output.pop_back();
  if (recipe.name.empty()) recipe.name = base_name(named);
  return check_files(recipe, console);
}

}  // namespace ingot::cli
