// SPDX-License-Identifier: MIT
#include "estimate/this_machine.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>
#include <utility>

#include "system/process.hpp"

namespace ingot {

ThisMachine find_this_machine() {
  ThisMachine machine = estimate::read_machine("/");
  if (!machine.host_bytes) machine.host_bytes = system::free_memory_bytes();
  std::vector<Device> cards = estimate::find_nvidia_cards();
  cards.insert(cards.end(), machine.devices.begin(), machine.devices.end());
  machine.devices = std::move(cards);
  return machine;
}

namespace estimate {
namespace {

/// The part of the host's memory that an integrated card was given is smaller than any card.
constexpr std::uint64_t smallest_card = std::uint64_t{1} << 30;
/// More than any of the files has that are read here.
constexpr std::size_t most_text = 1U << 16;
constexpr unsigned most_cards = 64;

/// All of a file, whose size the system does not tell, without the line's end; empty if there is
/// none.
std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(most_text, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

/// The number that a text begins with, after spaces; nothing for "max".
std::optional<std::uint64_t> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

/// The memory that programs can have without swapping, and no more than a container may have.
std::optional<std::uint64_t> free_host_bytes(const std::string& root) {
  constexpr std::string_view label = "MemAvailable:";
  const std::string facts = read_text(root + "proc/meminfo");
  const std::size_t place = facts.find(label);
  if (place == std::string::npos) return std::nullopt;
  const auto kib = leading_number(std::string_view(facts).substr(place + label.size()));
  if (!kib || *kib > std::uint64_t{1} << 50) return std::nullopt;
  const auto limit = leading_number(read_text(root + "sys/fs/cgroup/memory.max"));
  return std::min(*kib * 1024, limit.value_or(*kib * 1024));
}

}  // namespace

ThisMachine read_machine(const std::string& root) {
  ThisMachine machine;
  machine.host_bytes = free_host_bytes(root);
  for (unsigned i = 0; i < most_cards; ++i) {
    const std::string card = "card" + std::to_string(i);
    const std::string folder = root + "sys/class/drm/" + card + "/device/";
    // The names are those of the driver amdgpu.
    const auto total = leading_number(read_text(folder + "mem_info_vram_total"));
    const auto used = leading_number(read_text(folder + "mem_info_vram_used"));
    if (!total || *total < smallest_card) continue;
    const std::string name = read_text(folder + "product_name");
    machine.devices.push_back(
        {name.empty() ? card : name, *total - std::min(used.value_or(0), *total), 0});
  }
  return machine;
}

}  // namespace estimate
}  // namespace ingot
