// SPDX-License-Identifier: MIT
// `ingot architectures [NAME]` -- what Ingot knows of the architectures of models.

#include <fmt/core.h>

#include <array>
#include <ingot/architectures.hpp>
#include <ingot/text.hpp>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "cli/json_stream.hpp"
#include "cli/table.hpp"
#include "commands/json_members.hpp"

namespace ingot::cli {

template <>
inline constexpr bool is_json_row<ArchitectureKey> = true;
template <>
inline constexpr bool is_json_row<ArchitectureTensor> = true;

namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot architectures\n"
    "  ingot architectures jamba      # its keys and tensors\n"
    "  ingot architectures --json | jq -r '.[] | select(.import).name'\n"
    "\n"
    "An architecture is the value of general.architecture. The keys and tensors are\n"
    "those that the reference engine, llama.cpp, requires.";

/// The visitor that lists what Ingot can do with models of an architecture.
struct Abilities {
  void operator()(std::string_view name, bool can, std::string_view, std::string_view) {
    rows.emplace_back(name, can);
  }
  void operator()(std::string_view, const std::string&, std::string_view, std::string_view) {}

  std::vector<std::pair<std::string_view, bool>> rows;
};

Abilities abilities_of(const Architecture& row) {
  Abilities abilities;
  describe_abilities(abilities, row);
  return abilities;
}

void print_list(Console& console) {
  const auto& names = architecture_names();
  if (console.is_json()) {
    JsonStream json(console.out());
    JsonMembers members(json);
    json.objects(names, [&](std::string_view name) {
      describe_abilities(members, *find_architecture(name));
    });
    return;
  }
  std::vector<Column> columns = {{"name"}};
  for (const auto& [name, can] : abilities_of(*find_architecture(names.front())).rows)
    columns.push_back({.heading = std::string(name)});
  print_table(console, columns, names.size(), [&](std::size_t row, std::span<std::string> cells) {
    const Architecture& architecture = *find_architecture(names[row]);
    cells[0] = architecture.name;
    const Abilities abilities = abilities_of(architecture);
    for (std::size_t i = 0; i < abilities.rows.size(); ++i)
      cells[i + 1] = abilities.rows[i].second ? "yes" : "-";
  });
}

void print_page(Console& console, const Architecture& row) {
  std::string can;
  for (const auto& [name, is_able] : abilities_of(row).rows) {
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
  if (!console.is_json()) {
    print_page(console, *row);
    return ExitCode::done;
  }
  JsonStream json(console.out());
  const auto document = json.object();
  write_members(json, *row);
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
