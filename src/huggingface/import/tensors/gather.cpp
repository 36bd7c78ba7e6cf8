// SPDX-License-Identifier: MIT
#include "huggingface/import/tensors/gather.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/checked.hpp"
#include "ingot/types.hpp"

namespace ingot::huggingface {
namespace {

/// A range is read as a whole if it is at most this many times as large as the needed part.
constexpr std::uint64_t max_waste = 4;
/// Or if it is that small: one read of 64 KiB costs less than several.
constexpr std::uint64_t small_range_bytes = std::uint64_t{64} << 10;

/// Copies elements of `bytes` bytes each from a range in memory, in the order of the steps.
void copy_in_order(const std::byte* from, std::span<const Step> steps, std::size_t bytes,
                   std::byte*& to) {
  const Step& step = steps.front();
  if (steps.size() > 1) {
    for (std::uint64_t i = 0; i < step.size; ++i) {
      copy_in_order(from + i * step.stride * bytes, steps.subspan(1), bytes, to);
    }
    return;
  }
  if (step.stride == 1) {
    std::memcpy(to, from, to_size(step.size * bytes));
    to += step.size * bytes;
    return;
  }
  for (std::uint64_t i = 0; i < step.size; ++i, to += bytes) {
    std::memcpy(to, from + i * step.stride * bytes, bytes);
  }
}

/// Reads a box run by run, a run being numbers that follow one another in the source.
class RunReader {
 public:
  RunReader(const NumberSource& source, std::span<const Step> steps,
            std::vector<std::byte>& scratch, std::span<std::byte> destination, std::size_t bytes)
      : source_(source), scratch_(scratch), destination_(destination), bytes_(bytes) {
    std::uint64_t place = 1;
    for (std::size_t i = steps.size(); i-- > 0;) {
      const Axis axis{steps[i], {steps[i].size, place}};
      place *= steps[i].size;
      if (steps[i].stride == 1) {
        run_ = axis;
      } else {
        others_.push_back(axis);
      }
    }
    std::ranges::reverse(others_);
    scratch_.resize(static_cast<std::size_t>(run_[0].size) * bytes_);
  }

  Result<void> read(std::uint64_t first) { return read_from(0, first, 0); }

 private:
  // An axis has two steps: one in the source, and one in the destination.
  Result<void> read_from(std::size_t axis, std::uint64_t from, std::uint64_t to) {
    if (axis == others_.size()) return read_run(from, to);
    for (std::uint64_t i = 0; i < others_[axis][0].size; ++i) {
      INGOT_TRY_VOID(read_from(axis + 1, from + i * others_[axis][0].stride,
                               to + i * others_[axis][1].stride));
    }
    return {};
  }

  Result<void> read_run(std::uint64_t from, std::uint64_t to) {
    INGOT_TRY_VOID(source_.read(from, scratch_));
    for (std::uint64_t i = 0; i < run_[0].size; ++i) {
      std::memcpy(destination_.data() + (to + i * run_[1].stride) * bytes_,
                  scratch_.data() + i * bytes_, bytes_);
    }
    return {};
  }

  const NumberSource& source_;
  std::vector<std::byte>& scratch_;
  std::span<std::byte> destination_;
  std::size_t bytes_;
  Axis run_ = {{1, 1}, {1, 1}};
  std::vector<Axis> others_;
};

}  // namespace

std::vector<Step> simplify(std::span<const Step> steps) {
  std::vector<Step> simple;
  for (const Step& step : steps) {
    if (step.size == 1) continue;
    if (!simple.empty() && simple.back().stride == step.size * step.stride) {
      simple.back() = {simple.back().size * step.size, step.stride};
    } else {
      simple.push_back(step);
    }
  }
  return simple;
}

Result<void> gather(const NumberSource& source, std::uint64_t first, std::span<const Step> steps,
                    std::vector<std::byte>& scratch, std::span<std::byte> destination) {
  if (destination.empty()) return {};
  const std::vector<Step> simple = simplify(steps);
  if (simple.empty() || (simple.size() == 1 && simple.front().stride == 1)) {
    return source.read(first, destination);
  }
  const std::size_t bytes = find_type(source.type())->block_bytes;
  const std::uint64_t count = destination.size() / bytes;
  std::uint64_t range = 1;
  for (const Step& step : simple) range += (step.size - 1) * step.stride;
  if (range > count * max_waste && range * bytes > small_range_bytes) {
    return RunReader(source, simple, scratch, destination, bytes).read(first);
  }
  scratch.resize(static_cast<std::size_t>(range) * bytes);
  INGOT_TRY_VOID(source.read(first, scratch));
  std::byte* to = destination.data();
  copy_in_order(scratch.data(), simple, bytes, to);
  return {};
}

}  // namespace ingot::huggingface
