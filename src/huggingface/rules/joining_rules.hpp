// SPDX-License-Identifier: MIT
// The operations that join and number tensors.
#pragma once

#include <string_view>
#include <tuple>

#include "huggingface/rules/operation_member.hpp"
#include "huggingface/rules/rule_expression.hpp"

namespace ingot::huggingface {

/// The tensors of all `{part}` become one, with a further axis in front.
struct StackParts {
  ResultNames<1> to = {};
  static constexpr std::string_view name = "stack_parts";
  static constexpr auto members = std::tuple(needed("to", &StackParts::to));
};

/// Matrices of all `{part}` become one, whose rows are those of each, one after the other. It comes
/// before all others.
struct JoinColumns {
  ResultNames<1> to = {};
  static constexpr std::string_view name = "join_columns";
  static constexpr auto members = std::tuple(needed("to", &JoinColumns::to));
};

/// Puts a copy of another name in front.
struct CopyTensor {
  ResultNames<1> to = {};  ///< The copy's.
  static constexpr std::string_view name = "copy";
  static constexpr auto members = std::tuple(needed("to", &CopyTensor::to));
};

/// Integers stay integers, of 32 bits, and come before all other tensors.
struct AsInt32 {
  static constexpr std::string_view name = "as_i32";
  static constexpr std::tuple<> members = {};
};

/// Integers that count from their own positions become numbers from 0, of 64 bits, and come after
/// all other tensors. No two may be equal.
struct FromPositions {
  Expression limit = {};  ///< All are below it.
  static constexpr std::string_view name = "from_positions";
  static constexpr auto members = std::tuple(needed("limit", &FromPositions::limit));
};

/// Codes of FP4 of all `{expert}` and their scales become one tensor in MXFP4 for each `{part}`.
struct Mxfp4Stack {
  std::string scales = {};  ///< The name of the scales of a tensor.
  Expression count = {};
  ResultNames<1> to = {};
  static constexpr std::string_view name = "mxfp4_stack";
  static constexpr auto members =
      std::tuple(needed("scales", &Mxfp4Stack::scales), needed("count", &Mxfp4Stack::count),
                 needed("to", &Mxfp4Stack::to));
};

/// Gives the tensor of a layer another number.
struct Renumber {
  Expression layer = {};
  ResultNames<1> to = {};  ///< Its `{layer}` is the new number.
  static constexpr std::string_view name = "renumber";
  static constexpr auto members =
      std::tuple(needed("layer", &Renumber::layer), needed("to", &Renumber::to));
};

/// Weight, bias, mean and variance of a batch norm, the `{part}` in this order, become the factor
/// and the number that it multiplies by and adds.
struct BatchNorm {
  ResultNames<2> to = {};
  static constexpr std::string_view name = "batch_norm";
  static constexpr auto members = std::tuple(needed("to", &BatchNorm::to));
};

}  // namespace ingot::huggingface
