// SPDX-License-Identifier: MIT
// `ingot architectures [NAME]` -- what Ingot knows of the architectures of models.

#include <fmt/core.h>

#include <array>
#include <ingot/architectures.hpp>
#include <ingot/text.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "cli/command.hpp"
#include "cli/json_stream.hpp"
#include "cli/table.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot architectures\n"
    "  ingot architectures jamba      # its keys and tensors\n"
    "  ingot architectures --json | jq -r '.[] | select(.import).name'\n"
    "\n"
    "An architecture is the value of general.architecture. The keys and tensors are\n"
    "those that the reference engine, llama.cpp, requires.";

/// What Ingot can do with models of an architecture; the names are those of the JSON.
using Abilities = std::array<std::pair<std::string_view, bool>, 7>;

Abilities abilities_of(const Architecture& row) {
  return {{{"check", row.is_described()},
           {"fit", row.memory.has_value()},
           {"sample", row.is_described()},
           {"import", row.is_imported},
           {"export", row.is_exported},
           {"evaluate", row.is_evaluated},
           {"projector", row.has_projector}}};
}

void put_members(JsonStream& json, const Architecture& row) {
  json.member("name", row.name);
  for (const auto& [name, can] : abilities_of(row)) json.member(name, can);
}

void print_list(Console& console) {
  const auto& names = architecture_names();
  if (console.is_json()) {
    JsonStream json(console.out());
    json.objects(names,
                 [&](std::string_view name) { put_members(json, *find_architecture(name)); });
    return;
  }
  std::array<Column, 8> columns = {{{"name"}}};
  const Abilities first = abilities_of(*find_architecture(names.front()));
  for (std::size_t i = 0; i < first.size(); ++i) columns[i + 1].heading = first[i].first;
  print_table(console, columns, names.size(), [&](std::size_t row, std::span<std::string> cells) {
    const Architecture& architecture = *find_architecture(names[row]);
    cells[0] = architecture.name;
    const Abilities abilities = abilities_of(architecture);
    for (std::size_t i = 0; i < abilities.size(); ++i)
      cells[i + 1] = abilities[i].second ? "yes" : "-";
  });
}

void print_json(Console& console, const Architecture& row) {
  JsonStream json(console.out());
  const auto document = json.object();
  put_members(json, row);
  const auto put_condition = [&](const std::string& condition) {
    if (!condition.empty()) json.member("condition", condition);
  };
  {
    const auto keys = json.array("keys");
    for (const ArchitectureKey& key : row.keys) {
      const auto object = json.object(Layout::line);
      json.member("name", key.name);
      json.member("type", key.type);
      json.member("required", key.is_required);
      put_condition(key.condition);
    }
  }
  {
    const auto tensors = json.array("tensors");
    for (const ArchitectureTensor& tensor : row.tensors) {
      const auto object = json.object(Layout::line);
      json.member("name", tensor.name);
      json.member("shape", tensor.shape);
      json.member("required", !tensor.is_optional);
      put_condition(tensor.condition);
    }
  }
  const auto numbers = json.object("numbers");
  for (const auto& [name, meaning] : row.numbers) json.member(name, meaning);
}

void print_page(Console& console, const Architecture& row) {
  std::string can;
  for (const auto& [name, is_able] : abilities_of(row)) {
    if (is_able) can += (can.empty() ? "" : ", ") + std::string(name);
  }
  console.print_line(Style::strong, row.name);
  console.print_line(Style::plain, "ingot can: " + (can.empty() ? "nothing else" : can));
  if (!row.waits.empty()) return console.print_line(Style::plain, "not described: " + row.waits);
  const std::array<Column, 3> columns = {{{"key"}, {"type"}, {"required"}}};
  console.print_line(Style::plain, "");
  const auto required_text = [](bool is_required, const std::string& condition) {
    const std::string condition_text = condition.empty() ? "" : "if " + condition;
    if (!is_required) return "optional" + (condition.empty() ? "" : ", " + condition_text);
    return condition.empty() ? std::string("yes") : condition_text;
  };
  print_table(console, columns, row.keys.size(), [&](std::size_t i, std::span<std::string> cells) {
    cells[0] = row.keys[i].name;
    cells[1] = row.keys[i].type;
    cells[2] = required_text(row.keys[i].is_required, row.keys[i].condition);
  });
  console.print_line(Style::plain, "");
  const std::array<Column, 3> tensor_columns = {{{"tensor"}, {"shape"}, {"required"}}};
  print_table(console, tensor_columns, row.tensors.size(),
              [&](std::size_t i, std::span<std::string> cells) {
                cells[0] = row.tensors[i].name;
                cells[1] = "[" + row.tensors[i].shape + "]";
                cells[2] = required_text(!row.tensors[i].is_optional, row.tensors[i].condition);
              });
  console.print_line(Style::plain, "");
  const std::array<Column, 2> number_columns = {{{"number"}, {"is"}}};
  print_table(console, number_columns, row.numbers.size(),
              [&](std::size_t i, std::span<std::string> cells) {
                cells[0] = row.numbers[i].first;
                cells[1] = row.numbers[i].second;
              });
}

ExitCode run(const std::optional<std::string>& name, Console& console) {
  if (!name) {
    print_list(console);
    return ExitCode::done;
  }
  const Architecture* row = find_architecture(*name);
  if (row == nullptr) {
    return console.refuse_usage("architectures: \"" + escape(*name) +
                                "\" is not known; `ingot architectures` lists those that are");
  }
  console.is_json() ? print_json(console, *row) : print_page(console, *row);
  return ExitCode::done;
}

}  // namespace

void add_architectures_command(CLI::App& program, Console& console) {
  auto name = std::make_shared<std::optional<std::string>>();
  CLI::App& command =
      add_command(program, "architectures",
                  "List the architectures that Ingot knows, or describe one", examples);
  add_argument(command, "NAME", *name, "Describe this one");
  on_run(command, [name, &console] { console.finish(run(*name, console)); });
}

}  // namespace ingot::cli
