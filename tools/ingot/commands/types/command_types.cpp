// SPDX-License-Identifier: MIT
// `ingot types` -- the table of tensor types.

#include <fmt/core.h>

#include <array>

#include "cli/command.hpp"
#include "cli/json_stream.hpp"
#include "cli/table.hpp"
#include "commands/json_members.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot types\n"
    "  ingot types --json | jq -r '.[] | select(.bits_per_weight < 3).type'\n"
    "\n"
    "A block is the elements of a row that are encoded together. Importance weights\n"
    "say how much an error in each column matters: types that need them cannot be\n"
    "encoded without, types that want them become poor.";

void print_lines(Console& console) {
  const std::array<Column, 7> columns = {{{"id", Align::right},
                                          {"type"},
                                          {"block", Align::right, Narrow::hide},
                                          {"bytes", Align::right, Narrow::hide},
                                          {"bits per weight", Align::right},
                                          {"encodes"},
                                          {"importance weights"}}};
  const auto make_row = [&](std::size_t row, std::span<std::string> cells) {
    const TensorTypeInfo& info = live_tensor_types[row];
    cells[0] = fmt::format("{}", static_cast<std::uint32_t>(info.type));
    cells[1] = info.name;
    cells[2] = fmt::format("{}", info.block_elements);
    cells[3] = fmt::format("{}", info.block_bytes);
    cells[4] = fmt::format("{}", info.bits_per_weight());
    cells[5] = "yes";
    cells[6] = name_of(info.weights);
  };
  print_table(console, columns, live_tensor_types.size(), make_row);
}

}  // namespace

void add_types_command(CLI::App& program, Console& console) {
  CLI::App& command =
      add_command(program, "types", "List the tensor types and their blocks", examples);
  on_run(command, [&console] {
    if (console.is_json()) {
      JsonStream json(console.out());
      json.objects(live_tensor_types,
                   [&](const TensorTypeInfo& info) { write_members(json, info); });
    } else {
      print_lines(console);
    }
    console.finish(ExitCode::done);
  });
}

}  // namespace ingot::cli
