// SPDX-License-Identifier: MIT
#include <array>
#include <charconv>
#include <cmath>

#include "base/ascii.hpp"
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

}  // namespace

std::span<const DeviceModel> device_models() noexcept { return models; }

std::span<const std::uint64_t> common_memory_sizes() noexcept { return sizes; }

std::uint64_t usable_device_bytes(std::uint64_t memory_bytes) noexcept {
  return memory_bytes / 100 * usable_percent;
}

std::optional<std::uint64_t> parse_memory_size(std::string_view text) noexcept {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || text.empty() || text[0] == '-') return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
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
  for (const DeviceModel& model : models) {
    if (lower_case(text) == model.name) {
      return Device{std::string(model.label), model.usable_bytes, model.bandwidth};
    }
  }
  const std::optional<std::uint64_t> bytes = parse_memory_size(text);
  if (!bytes) {
    return fail(Errc::invalid_argument, std::string(text),
                "a device is a size like 24G, or a name like rtx-4090 or m4-max-64");
  }
  return Device{std::string(text), usable_device_bytes(*bytes), 0};
}

}  // namespace ingot
