// SPDX-License-Identifier: MIT
// Property: the functions of the public headers that take numbers and texts survive any of them,
// and keep what their headers promise: escaped text is safe and fits, names lead back to what they
// name, numbers read back as they were.

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/anatomy.hpp"
#include "ingot/check.hpp"
#include "ingot/diff.hpp"
#include "ingot/digest.hpp"
#include "ingot/edit.hpp"
#include "ingot/half.hpp"
#include "ingot/interop.hpp"
#include "ingot/npy.hpp"
#include "ingot/parallel.hpp"
#include "ingot/recipe.hpp"
#include "ingot/shard_name.hpp"
#include "ingot/statistics.hpp"
#include "ingot/tensor.hpp"
#include "ingot/tensor_profile.hpp"
#include "ingot/text.hpp"
#include "ingot/types.hpp"

namespace {

using namespace ingot;

void require(bool condition, int line = __builtin_LINE()) {
  if (condition) return;
  std::fprintf(stderr, "line %d\n", line);
  std::abort();
}

/// The input as numbers and as text; numbers go on with zeros where it ends.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  template <class T>
  T take() {
    std::array<std::byte, sizeof(T)> bytes = {};
    const std::size_t count = std::min(bytes.size(), size_ - next_);
    if (count != 0) std::memcpy(bytes.data(), data_ + next_, count);
    next_ += count;
    return std::bit_cast<T>(bytes);
  }
  [[nodiscard]] std::string rest() const {
    return {reinterpret_cast<const char*>(data_) + next_, size_ - next_};
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t next_ = 0;
};

void try_texts(const std::string& text, std::size_t columns) {
  const std::string escaped = escape(text);
  require(is_utf8(escaped));
  for (const char c : escaped) require(static_cast<unsigned char>(c) >= ' ' && c != 0x7F);
  const std::string cut = escape_shortened(text, columns);
  require(is_utf8(cut) && display_columns(cut) <= std::max<std::size_t>(columns, 3));
  if (is_utf8(text) && escaped == text) require(escape(escaped) == escaped);
  static_cast<void>(parse_shard_name(text));
  require(!is_split_key(text) || text.starts_with("split."));
  static_cast<void>(format_by_ending(text));
  static_cast<void>(find_check_rule(text));
  static_cast<void>(find_value_type(text));
  static_cast<void>(find_type(text));
  static_cast<void>(role_of(text));
  if (const auto layer = parse_layer_name(text)) {
    require(text.starts_with("blk.") && text.ends_with(layer->rest));
  }
  const auto plain = std::as_bytes(std::span(text));
  const auto decoded = base64_decode(base64_encode(plain));
  require(decoded && std::ranges::equal(*decoded, plain));
  if (const auto bytes = base64_decode(text)) require(base64_encode(*bytes) == text);
  if (const Recipe* recipe = find_recipe(text)) {
    require(recipe >= recipes().data() && recipe < recipes().data() + recipes().size());
  }
  for (const DigestAlgorithmInfo& info : digest_algorithms) {
    const auto bytes = std::as_bytes(std::span(text));
    Digest digest(info.algorithm);
    digest.update(bytes.first(bytes.size() / 2));
    digest.update(bytes.subspan(bytes.size() / 2));
    require(digest.finish() == digest_of(info.algorithm, bytes));
  }
}

void try_names(std::uint64_t number) {
  const auto low = static_cast<std::uint32_t>(number);
  const auto type = static_cast<TensorType>(low % 64);
  require(find_type(type) == nullptr || removed_type_name(type).empty());
  if (const TensorTypeInfo* info = find_type(type)) require(find_type(info->name) == info);
  static_cast<void>(removed_type_name(static_cast<TensorType>(low)));
  require(is_quantized(type) + is_integer(type) + is_float(type) == (find_type(type) != nullptr));
  if (const auto file_type = file_type_of(type)) require(type_of_file_type(*file_type) == type);
  const std::array<std::uint64_t, 2> shape = {number, low};
  if (const auto size = size_of_tensor(type, shape); size && find_type(type) != nullptr) {
    require(size->bytes == find_type(type)->bytes_of(size->elements));
  }
  require(threads_for(low % 64, number) >= 1);
  static_cast<void>(find_type(static_cast<TensorType>(low)));
  static_cast<void>(npy_descriptor(static_cast<TensorType>(low)));
  static_cast<void>(is_quantize_target(static_cast<TensorType>(low)));
  if (const auto fallback = fallback_type(static_cast<TensorType>(low), number)) {
    require(find_type(*fallback) != nullptr);
  }
  if (!recipes().empty()) {
    const Recipe& recipe = recipes()[number % recipes().size()];
    require(find_recipe(recipe.name) == &recipe);
    static_cast<void>(demands_importance(static_cast<TensorType>(low),
                                         static_cast<TensorRole>(low % 12), recipe));
  }
  static_cast<void>(find_recipe(low));
  const auto value_type = static_cast<ValueType>(low);
  require(name_of(value_type).empty() || find_value_type(name_of(value_type)) == value_type);
  static_cast<void>(size_bytes_of(value_type));
  const FileTypeInfo* file_type = find_file_type(number);
  require(file_type_name(number) == (file_type == nullptr ? "" : file_type->name));
  if (file_type != nullptr) require(file_type_of(file_type->weights).has_value());
  const auto code = static_cast<Errc>(low);
  require(!name_of(code).empty() && is_utf8(sentence_of(code)));
  require(category_of(code) <= ErrorCategory::notice);
  const auto row = static_cast<std::uint8_t>(number);
  for (const std::string_view name :
       {name_of(static_cast<Severity>(row)), name_of(static_cast<RuleSource>(row)),
        name_of(static_cast<Section>(row)), name_of(static_cast<FileFormat>(row)),
        name_of(static_cast<EditWay>(row)), name_of(static_cast<TypeReason>(row))}) {
    require(is_utf8(name));
  }
  for (const CheckRule& rule : check_rules()) {
    require(!name_of(rule.severity).empty() && !name_of(rule.source).empty());
  }
}

void try_numbers(std::uint64_t number, double wide, float narrow) {
  for (const std::string& text :
       {format_bytes(number), format_count(number), format_digits(number)}) {
    require(!text.empty() && text.size() < 32);
  }
  double read = 0;
  const std::string text = format_float(wide);
  if (std::isfinite(wide)) {
    require(std::from_chars(text.data(), text.data() + text.size(), read).ec == std::errc());
    require(std::bit_cast<std::uint64_t>(read) == std::bit_cast<std::uint64_t>(wide));
  }
  require(!format_float(narrow).empty());
  const auto half = static_cast<std::uint16_t>(number);
  if (!std::isnan(f32_from_f16(half))) require(f16_from_f32(f32_from_f16(half)) == half);
  if (!std::isnan(f32_from_bf16(half))) require(bf16_from_f32(f32_from_bf16(half)) == half);
  require(std::isnan(f32_from_f16(f16_from_f32(narrow))) == std::isnan(narrow));
}

void try_series(const std::string& bytes, Input& input) {
  std::vector<float> numbers(bytes.size() / sizeof(float));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(float));
  const std::span<const float> all(numbers);
  Statistics statistics = compute_statistics(all);
  require(statistics.count + statistics.nans + statistics.infinities == all.size());
  require(!(statistics.deviation() < 0));
  statistics.add(compute_statistics(all.first(all.size() / 2)));
  QuantizationError error = measure_error(all, all.subspan(all.size() / 2));
  error.add(measure_error(all, all));
  static_cast<void>(error.rmse() + error.sqnr_db());
  WeightDistance distance;
  distance.error = error;
  distance.squared_b = input.take<double>();
  static_cast<void>(distance.cosine());
}

void try_shapes(Input& input, const std::string& text) {
  std::vector<std::uint64_t> shape(input.take<std::uint8_t>() % 6u);
  for (std::uint64_t& dimension : shape) dimension = input.take<std::uint64_t>();
  const std::string header = npy_header(text.substr(0, 8), shape);
  require(header.size() % 64 == 0 && header.ends_with('\n'));
  if (text.find('\0') == std::string::npos) {
    const std::uint32_t count = 1 + input.take<std::uint16_t>() % max_shard_count;
    const std::uint32_t index = input.take<std::uint16_t>() % count;
    const auto name = parse_shard_name(shard_file_name(text, index, count));
    require(name.has_value() && name->prefix == text);
    require(name->index == index && name->count == count);
  }
  std::uint64_t sum = 0;
  const std::uint64_t items = input.take<std::uint16_t>() % 1000u;
  const auto add = [&](std::uint64_t, std::uint64_t count) {
    sum += count;
    return Result<void>{};
  };
  require(spread(items, 1 + input.take<std::uint8_t>(), 1, add).has_value() && sum == items);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const auto number = input.take<std::uint64_t>();
  const auto wide = input.take<double>();
  const auto narrow = input.take<float>();
  try_names(number);
  try_numbers(number, wide, narrow);
  const std::string text = input.rest();
  try_texts(text, number % 100);
  try_series(text, input);
  try_shapes(input, text);
  return 0;
}
