// SPDX-License-Identifier: MIT
// Single checks of a model that is to become a bump file, and their messages.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/bump/bump_header.hpp"
#include "ingot/convert.hpp"
#include "ingot/error.hpp"
#include "ingot/model.hpp"

namespace ingot::formats {

[[nodiscard]] Failure refuse_for_bump(std::string subject, std::string detail,
                                      Remedy remedy = Remedy::none);

/// "[256, 64]"
[[nodiscard]] std::string dimensions_text(std::span<const std::uint64_t> shape);

/// "Q4_K"
[[nodiscard]] std::string type_text(TensorType type);

[[nodiscard]] bool is_k_quant(TensorType type) noexcept;

/// Whether a numbering's converters hold weights of a type as they are.
[[nodiscard]] bool bump_holds(TensorType type, BumpCodes codes) noexcept;

/// The number of layers up to a tensor's layer: 8 for "blk.7.attn_norm.weight", 0 for other names.
[[nodiscard]] std::uint64_t layers_up_to(std::string_view name) noexcept;

/// Fails with Errc::type_not_held, unless the format holds the type, or the type can be decoded and
/// `widen` allows that.
[[nodiscard]] Result<void> check_weight_type(const TensorInfo& tensor, const char* role,
                                             BumpCodes codes, bool widen);

/// Fails with Errc::bump_cannot_hold unless the tensor has exactly these two dimensions.
[[nodiscard]] Result<void> check_matrix(const TensorInfo& tensor, std::uint64_t width,
                                        std::uint64_t rows);

/// Checks a norm or bias, which must be of a float type; accepts nullptr.
[[nodiscard]] Result<void> check_vector(const TensorInfo* tensor, std::uint64_t length);

/// Checks that no tensor is left out silently: each is `used`, or is an output matrix equal to the
/// embedding, which engines use in its place. Reads both matrices to compare them.
/// Errc::would_be_lost, or a remark if losses are allowed.
[[nodiscard]] Result<void> check_bump_loss(const Model& model,
                                           const std::set<std::string_view>& used, bool is_allowed,
                                           std::vector<Error>& remarks);

/// Files that the format allows and its engine is known to misread.
void add_engine_warnings(const formats::BumpShape& shape, bool has_plain_output,
                         std::vector<Error>& remarks);

}  // namespace ingot::formats
