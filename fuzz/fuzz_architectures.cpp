// SPDX-License-Identifier: MIT
// Property: any header can be held against any row: what is expected has names, at most four
// dimensions, and a sample of any numbers is made or refused.

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "ingot/architectures.hpp"

namespace {

using namespace ingot;

void require(bool condition) {
  if (!condition) std::abort();
}

/// Answers what the input says, the same to the same question.
class AnyHeader : public ArchitectureHeader {
 public:
  AnyHeader(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  std::optional<std::int64_t> number(std::string_view key,
                                     std::optional<std::uint64_t> element) const override {
    const std::uint64_t word = answer(key, element.value_or(77));
    if (word % 8 == 0) return {};
    return static_cast<std::int64_t>(word % 8 < 6 ? word % 300 : word << (word % 60));
  }
  std::optional<std::string_view> text(std::string_view key) const override {
    if (answer(key, 1) % 2 == 0) return {};
    const auto& types = find_architecture("clip")->variants;
    if (key.ends_with("projector_type")) return types[answer(key, 6) % types.size()];
    return "yarn";
  }
  std::optional<std::uint64_t> array_size(std::string_view key) const override {
    const std::uint64_t word = answer(key, 2);
    return word % 2 == 0 ? std::nullopt : std::optional(word << (word % 60));
  }
  bool has_key(std::string_view key) const override { return answer(key, 3) % 2 == 0; }
  bool has_tensor(std::string_view name) const override { return answer(name, 4) % 2 == 0; }
  std::optional<std::int64_t> tensor_size(std::string_view name,
                                          std::size_t dimension) const override {
    return number(name, dimension + 100);
  }
  std::optional<std::int64_t> vocabulary() const override { return number("vocabulary", 5); }

 private:
  std::uint64_t answer(std::string_view name, std::uint64_t salt) const {
    std::uint64_t hash = salt * 0x9e3779b97f4a7c15;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return size_ == 0 ? hash : hash ^ std::uint64_t{data_[hash % size_]} * 0x9e3779b97f4a7c15;
  }

  const std::uint8_t* data_;
  std::size_t size_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto& names = architecture_names();
  const std::size_t first = size == 0 ? 0 : data[0];
  const AnyHeader header(data, size);
  const Architecture* row = find_architecture(names[first % names.size()]);
  require(row != nullptr && row->is_described() == row->waits.empty());
  for (const std::string& key : missing_keys(*row, header)) require(!header.has_key(key));
  static_cast<void>(layers_of(*row, header));
  for (const ArchitectureFact& fact : facts_of(*row, header)) require(!fact.name.empty());
  for (const std::string_view why : refusals_of(*row, header)) require(!why.empty());
  require(!row->variants.empty() || unchecked_variants(*row, header).empty());
  for (const std::optional<std::uint64_t> layer :
       {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(size),
        std::optional<std::uint64_t>(~std::uint64_t{0})}) {
    static_cast<void>(memory_number(*row, header, "indexer", layer));
    for (const ExpectedTensor& tensor : expected_tensors(*row, header, layer)) {
      require(!tensor.name.empty() && !tensor.shape.empty() && tensor.shape.size() <= 4);
    }
  }
  const std::int64_t any = size > 2 ? std::int64_t{data[1]} << (data[2] % 40) : 4;
  const auto sample = plan_architecture_sample(
      *row, {{"embedding_length", any}, {"block_count", any % 64}}, first + 300);
  if (sample) require(row->is_described() && !sample->keys.empty());
  return 0;
}
