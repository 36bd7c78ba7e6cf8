// SPDX-License-Identifier: MIT
// The header of a model, as the rows of architectures ask for it.
#pragma once

#include "ingot/architectures.hpp"
#include "ingot/export.h"
#include "ingot/model.hpp"

namespace ingot {

class INGOT_EXPORT ModelHeader : public ArchitectureHeader {
 public:
  explicit ModelHeader(const Model& model) : model_(model) {}

  [[nodiscard]] std::optional<std::int64_t> number(
      std::string_view key, std::optional<std::uint64_t> element) const override;
  [[nodiscard]] std::optional<std::string_view> text(std::string_view key) const override;
  [[nodiscard]] std::optional<std::uint64_t> array_size(std::string_view key) const override;
  [[nodiscard]] bool has_key(std::string_view key) const override;
  [[nodiscard]] bool has_tensor(std::string_view name) const override;
  [[nodiscard]] std::optional<std::int64_t> tensor_size(std::string_view name,
                                                        std::size_t dimension) const override;
  [[nodiscard]] std::optional<std::int64_t> vocabulary() const override;

 private:
  const Model& model_;
};

}  // namespace ingot
