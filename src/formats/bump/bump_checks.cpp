// SPDX-License-Identifier: MIT
#include "formats/bump/bump_checks.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/strings.hpp"

namespace ingot::formats {
namespace {

/// Whether two tensors are the same bytes.
Result<bool> are_equal(const Model& model, const TensorInfo& a, const TensorInfo& b) {
  constexpr std::uint64_t piece_bytes = std::uint64_t{4} << 20;
  const bool same_order = model.files()[a.shard].byte_order == model.files()[b.shard].byte_order;
  if (a.type != b.type || a.size_bytes != b.size_bytes || !same_order ||
      !std::ranges::equal(a.shape, b.shape)) {
    return false;
  }
  std::vector<std::byte> of_a(static_cast<std::size_t>(std::min(piece_bytes, a.size_bytes)));
  std::vector<std::byte> of_b(of_a.size());
  for (std::uint64_t at = 0; at < a.size_bytes;) {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(of_a.size(), a.size_bytes - at));
    INGOT_TRY_VOID(model.read(a, at, std::span(of_a).first(count)));
    INGOT_TRY_VOID(model.read(b, at, std::span(of_b).first(count)));
    if (!std::ranges::equal(std::span(of_a).first(count), std::span(of_b).first(count))) {
      return false;
    }
    at += count;
  }
  return true;
}

std::string loss_text(std::string_view name) {
  if (name == "output.weight") {
    return "the engine uses token_embd.weight in its place, whose values are others";
  }
  return name.ends_with(".bias") ? "the section of this bias is zeros in this dialect"
                                 : "no section holds such a tensor";
}

}  // namespace

Failure refuse_for_bump(std::string subject, std::string detail, Remedy remedy) {
  return fail({.code = Errc::bump_cannot_hold,
               .subject = std::move(subject),
               .detail = std::move(detail),
               .remedy = remedy});
}

std::string dimensions_text(std::span<const std::uint64_t> shape) {
  return "[" + joined(shape) + "]";
}

std::string type_text(TensorType type) {
  const TensorTypeInfo* info = find_type(type);
  if (info != nullptr) return std::string(info->name);
  return "type " + std::to_string(static_cast<std::uint32_t>(type));
}

bool is_k_quant(TensorType type) noexcept {
  return type == TensorType::q4_k || type == TensorType::q6_k;
}

bool bump_holds(TensorType type, BumpCodes codes) noexcept {
  if (type == TensorType::f32 || is_k_quant(type)) return true;
  return codes == BumpCodes::engine &&
         (type == TensorType::q5_0 || type == TensorType::q5_1 || type == TensorType::q8_0);
}

std::uint64_t layers_up_to(std::string_view name) noexcept {
  const auto parts = parse_layer_name(name);
  return parts && parts->rest == "attn_norm.weight" ? std::uint64_t{parts->layer} + 1 : 0;
}

Result<void> check_weight_type(const TensorInfo& tensor, const char* role, BumpCodes codes,
                               bool widen) {
  if (bump_holds(tensor.type, codes)) return {};
  if (widen && find_type(tensor.type) != nullptr) return {};
  const char* expected =
      codes == BumpCodes::doc ? "F32, Q4_K or Q6_K" : "F32, Q4_K, Q6_K, Q5_0, Q5_1 or Q8_0";
  const bool engine_holds_it = bump_holds(tensor.type, BumpCodes::engine);
  return fail({.code = Errc::type_not_held,
               .subject = std::string(tensor.name),
               .detail = std::string("expected ") + expected + " for " + role + ", found " +
                         type_text(tensor.type) +
                         (engine_holds_it ? "; the engine's codes hold it, and" : ";") +
                         " it can be widened to F32",
               .remedy = engine_holds_it ? Remedy::widen_or_engine_codes : Remedy::widen});
}

Result<void> check_matrix(const TensorInfo& tensor, std::uint64_t width, std::uint64_t rows) {
  const std::uint64_t expected[] = {width, rows};
  if (std::ranges::equal(tensor.shape, expected)) return {};
  return refuse_for_bump(std::string(tensor.name), "expected the dimensions " +
                                                       dimensions_text(expected) + ", found " +
                                                       dimensions_text(tensor.shape));
}

Result<void> check_vector(const TensorInfo* tensor, std::uint64_t length) {
  if (tensor == nullptr) return {};
  const std::string name(tensor->name);
  if (tensor->shape.size() != 1) {
    return refuse_for_bump(name, "expected 1 dimension, found " + dimensions_text(tensor->shape));
  }
  if (tensor->type != TensorType::f32 && tensor->type != TensorType::f16 &&
      tensor->type != TensorType::bf16) {
    return fail(Errc::type_not_held, name,
                "expected F32, F16 or BF16, found " + type_text(tensor->type));
  }
  if (tensor->shape[0] == length) return {};
  return refuse_for_bump(name, "expected " + std::to_string(length) + " elements, found " +
                                   std::to_string(tensor->shape[0]));
}

Result<void> check_bump_loss(const Model& model, const std::set<std::string_view>& used,
                             bool is_allowed, std::vector<Error>& remarks) {
  constexpr std::size_t max_named = 8;
  std::size_t lost = 0;
  for (const TensorInfo& tensor : model.tensors()) {
    if (used.contains(tensor.name)) continue;
    if (tensor.name == "output.weight") {
      INGOT_TRY(const bool is_tied,
                are_equal(model, tensor, *model.find_tensor("token_embd.weight")));
      if (is_tied) continue;
    }
    if (!is_allowed) {
      return fail({.code = Errc::would_be_lost,
                   .subject = std::string(tensor.name),
                   .detail = loss_text(tensor.name),
                   .remedy = Remedy::allow_loss});
    }
    if (++lost <= max_named) {
      remarks.push_back(
          {Errc::left_out, Error::no_offset, std::string(tensor.name), loss_text(tensor.name)});
    }
  }
  if (lost > max_named) {
    remarks.push_back(
        {Errc::left_out, Error::no_offset, std::to_string(lost - max_named) + " more tensors", {}});
  }
  return {};
}

void add_engine_warnings(const formats::BumpShape& shape, bool has_plain_output,
                         std::vector<Error>& remarks) {
  const auto warn = [&](std::string subject, std::string detail) {
    remarks.push_back(
        {Errc::engine_may_misread, Error::no_offset, std::move(subject), std::move(detail)});
  };
  const std::pair<const char*, std::uint64_t> widths[] = {{"embedding", shape.embedding},
                                                          {"head", shape.head_width},
                                                          {"feed-forward", shape.feed_forward}};
  for (const auto& [name, width] : widths) {
    if (width % 16 == 0) continue;
    warn(std::string(name) + " width", std::to_string(width) +
                                           " is no multiple of 16, and the loader of version 3"
                                           " expects padding to one");
  }
  if (shape.heads % shape.kv_heads != 0) {
    warn("heads", std::to_string(shape.heads) + " cannot share " + std::to_string(shape.kv_heads) +
                      " heads of keys evenly");
  }
  if (shape.head_width % 2 != 0) warn("head width", std::to_string(shape.head_width) + " is odd");
  if (has_plain_output && shape.heads > 1) {
    warn(
        "attn_output.weight",
        "it is F32, which the loader of version 3 expects head by head; converters write it whole");
  }
}

}  // namespace ingot::formats
