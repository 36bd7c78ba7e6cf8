// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "base/ascii.hpp"
#include "base/real_number.hpp"
#include "ingot/estimate.hpp"

namespace ingot {
namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;
/// The share of a card's memory that its driver leaves.
constexpr std::uint64_t usable_percent = 97;

constexpr std::array models = {
#define INGOT_DEVICE(name, label, memory_gib, percent, bandwidth_gb)             \
  DeviceModel{name, label, (memory_gib)*gib, (memory_gib)*gib / 100 * (percent), \
              (bandwidth_gb)*1e9},
#include "ingot/devices.def"
};

constexpr std::array<std::uint64_t, 14> sizes = {4 * gib,  6 * gib,  8 * gib,  10 * gib, 12 * gib,
                                                 16 * gib, 20 * gib, 24 * gib, 32 * gib, 40 * gib,
                                                 48 * gib, 80 * gib, 96 * gib, 192 * gib};

/// A name as people and drivers vary it: "RTX 4060", "rtx4060" and "NVIDIA GeForce RTX 4060" are
/// "rtx-4060", "GeForce RTX 4070 Laptop GPU" is "rtx-4070-laptop".
std::string squeezed(std::string_view name) {
  std::string letters = lower_case(name);
  std::erase_if(letters, [](char c) { return c == '-' || c == '_' || c == ' '; });
  for (const std::string_view word :
       {"nvidia", "geforce", "tesla", "amd", "radeon", "instinct", "intel", "gpu"}) {
    if (const std::size_t at = letters.find(word); at != letters.npos)
      letters.erase(at, word.size());
  }
  return letters;
}

/// "4060ti" of "rtx-4060-ti"; empty for names such as m1-8, whose numbers are sizes.
std::string number_of(std::string_view name) {
  const std::string_view family = name.substr(0, name.find('-'));
  if (family == name || !std::all_of(family.begin(), family.end(), is_letter)) return {};
  return squeezed(name.substr(family.size()));
}

/// 'G' of "8" and "7.5", 'M' of "12288": the unit that people mean who leave it out.
std::optional<char> usual_unit(std::string_view text) {
  double number = 0;
  const auto [end, error] =
      read_real(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  const bool is_bare = error == std::errc() && end == text.data() + text.size();
  if (!is_bare || !(number <= 1U << 20)) return std::nullopt;
  return number > 1024 ? 'M' : 'G';
}

}  // namespace

std::span<const DeviceModel> device_models() noexcept { return models; }

std::span<const std::uint64_t> common_memory_sizes() noexcept { return sizes; }

std::uint64_t usable_device_bytes(std::uint64_t memory_bytes) noexcept {
  return memory_bytes / 100 * usable_percent;
}

std::optional<std::uint64_t> parse_memory_size(std::string_view text) noexcept {
  double number = 0;
  const auto [end, error] =
      read_real(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || text.empty() || text[0] == '-') return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  const std::optional<char> usual = usual_unit(text);
  if (usual) unit = std::string_view(&*usual, 1);
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const auto drop = [&](char letter) {
    if (!unit.empty() && lower_case(unit.back()) == letter) unit.remove_suffix(1);
  };
  drop('b');
  if (unit.size() > 1) drop('i');
  if (unit.size() > 1) return std::nullopt;
  constexpr std::string_view units = "kmgt";
  const std::size_t power = unit.empty() ? 0 : units.find(lower_case(unit[0])) + 1;
  if (!unit.empty() && power == 0) return std::nullopt;
  const double bytes = std::ldexp(number, static_cast<int>(10 * power));
  if (!(bytes >= 1) || bytes >= 0x1p63) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

Result<Device> parse_device(std::string_view text) {
  const std::string name = squeezed(text);
  std::string similar;
  for (const DeviceModel& model : models) {
    const bool is_named = name == squeezed(model.name) || name == squeezed(model.label);
    if (is_named || (!name.empty() && name == number_of(model.name))) {
      return Device{std::string(model.label), model.usable_bytes, model.bandwidth};
    }
    if (name.size() < 2 || !squeezed(model.name).starts_with(name)) continue;
    similar += (similar.empty() ? "did you mean " : ", ") + std::string(model.name);
  }
  const std::optional<std::uint64_t> bytes = parse_memory_size(text);
  if (!bytes) {
    const std::string hint = similar.empty() ? "" : "; " + similar + "?";
    return fail(Errc::invalid_argument, std::string(text),
                "a device is a size like 24G, or a name like rtx-4090 or m4-max-64" + hint);
  }
  std::string size(text);
  if (const std::optional<char> unit = usual_unit(text)) size += *unit;
  std::erase(size, ' ');
  return Device{std::move(size), usable_device_bytes(*bytes), 0};
}

}  // namespace ingot
