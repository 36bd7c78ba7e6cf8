// SPDX-License-Identifier: MIT
// Activations of many tokens, laid out for matrix products.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>

namespace ingot::evaluation {

/// Tokens of a panel: two vectors of the widest CPU target.
inline constexpr std::size_t panel_tokens = 32;

/// Rows of a weight matrix that a product takes at once. Buffers of rows hold a multiple of it.
inline constexpr std::size_t group_rows = 12;

[[nodiscard]] constexpr std::size_t rounded_up(std::size_t number, std::size_t unit) noexcept {
  return (number + unit - 1) / unit * unit;
}

/// Floats that begin at a multiple of 64 bytes; not initialised.
class AlignedFloats {
 public:
  AlignedFloats() = default;
  explicit AlignedFloats(std::size_t count)
      : floats_(static_cast<float*>(::operator new(count * sizeof(float), alignment))) {}

  [[nodiscard]] float* data() noexcept { return floats_.get(); }
  [[nodiscard]] const float* data() const noexcept { return floats_.get(); }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Free {
    void operator()(float* floats) const noexcept { ::operator delete(floats, alignment); }
  };
  std::unique_ptr<float, Free> floats_;
};

/// Numbers by panel of tokens, then feature, then token of the panel: all operations on them run
/// along the tokens, so they need no horizontal sums. Tokens that fill the last panel of a chunk
/// are computed like the others and are never looked at.
class Panels {
 public:
  Panels() = default;
  Panels(std::size_t features, std::size_t panel_count)
      : features_(features),
        panel_count_(panel_count),
        floats_(features * panel_count * panel_tokens) {}

  [[nodiscard]] Panels copy() const {
    Panels copied(features_, panel_count_);
    std::copy_n(data(), size(), copied.data());
    return copied;
  }

  [[nodiscard]] std::size_t features() const noexcept { return features_; }
  [[nodiscard]] std::size_t panel_count() const noexcept { return panel_count_; }
  [[nodiscard]] std::size_t size() const noexcept {
    return features_ * panel_count_ * panel_tokens;
  }

  [[nodiscard]] float* data() noexcept { return floats_.data(); }
  [[nodiscard]] const float* data() const noexcept { return floats_.data(); }

  /// The panel_tokens numbers of a feature.
  [[nodiscard]] float* row(std::size_t panel, std::size_t feature) noexcept {
    return floats_.data() + (panel * features_ + feature) * panel_tokens;
  }
  [[nodiscard]] const float* row(std::size_t panel, std::size_t feature) const noexcept {
    return floats_.data() + (panel * features_ + feature) * panel_tokens;
  }

  /// All numbers of a panel.
  [[nodiscard]] std::span<float> numbers(std::size_t panel) noexcept {
    return {row(panel, 0), features_ * panel_tokens};
  }

 private:
  std::size_t features_ = 0;
  std::size_t panel_count_ = 0;
  AlignedFloats floats_;
};

/// Copies features from `from` on, of all panels.
inline void copy_features(const Panels& source, std::size_t from, std::size_t count, Panels& target,
                          std::size_t to) {
  for (std::size_t panel = 0; panel < source.panel_count(); ++panel) {
    std::copy_n(source.row(panel, from), count * panel_tokens, target.row(panel, to));
  }
}

inline Panels features_of(const Panels& source, std::size_t from, std::size_t count) {
  Panels part(count, source.panel_count());
  copy_features(source, from, count, part, 0);
  return part;
}

}  // namespace ingot::evaluation
