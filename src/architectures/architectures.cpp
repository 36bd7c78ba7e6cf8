// SPDX-License-Identifier: MIT
#include "ingot/architectures.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "architectures/precise_names.hpp"
#include "architectures/row_scope.hpp"
#include "base/ranges.hpp"
#include "base/strings.hpp"

namespace ingot {
namespace architectures {
namespace {

struct Abilities {
  std::string_view name;
  bool is_imported;
  bool is_exported;
  bool is_evaluated;
  bool has_projector;
};

constexpr Abilities ability_rows[] = {
#define INGOT_ABILITIES(name, is_imported, is_exported, is_evaluated, has_projector) \
  {name, is_imported, is_exported, is_evaluated, has_projector},
#include "architectures/abilities.def"
#undef INGOT_ABILITIES
};

/// A row that is read when it is first asked for.
struct Place {
  std::once_flag once;
  Architecture architecture;
};

/// Calls use(tensor) with the line that counts for each name: the last that holds. Nothing is said
/// of a name if that cannot be told.
template <class Use>
void for_each_tensor(const Architecture& architecture, const ArchitectureHeader& header,
                     std::optional<std::uint64_t> layer, const Use& use) {
  const RowScope scope(architecture);
  const auto& tensors = architecture.row->tensors;
  for (std::size_t first = 0, last = 0; first < tensors.size(); first = last) {
    for (last = first; last < tensors.size() && tensors[last].name == tensors[first].name &&
                       tensors[last].is_of_layers == tensors[first].is_of_layers;) {
      ++last;
    }
    if (tensors[first].is_of_layers != layer.has_value()) continue;
    for (std::size_t i = last; i-- > first;) {
      const auto is_here = holds(tensors[i].condition, scope, header, layer);
      if (is_here == false) continue;
      if (is_here) use(tensors[i], scope);
      break;
    }
  }
}

std::vector<std::uint64_t> shape_of(const ArchitectureRow::Tensor& tensor, const Scope& scope,
                                    const ArchitectureHeader& header,
                                    std::optional<std::uint64_t> layer) {
  std::vector<std::uint64_t> shape;
  for (const Expression& size : tensor.shape) {
    const std::int64_t number = evaluate(size, scope, header, layer).value_or(0);
    shape.push_back(static_cast<std::uint64_t>(std::max<std::int64_t>(number, 0)));
  }
  return shape;
}

/// The sample itself, as far as it is made.
class SampleHeader : public ArchitectureHeader {
 public:
  SampleHeader(const Architecture& architecture, const SampleNumbers& numbers,
               std::uint64_t vocabulary, std::string_view variant)
      : architecture_(architecture),
        numbers_(numbers),
        vocabulary_(vocabulary),
        variant_(variant) {}

  std::optional<std::int64_t> number(std::string_view key,
                                     std::optional<std::uint64_t> element) const override {
    const ArchitectureRow::Key* row = find(key);
    if (row == nullptr) return {};
    for (const auto& [name, number] : numbers_) {
      if (name == row->name && !row->is_list) return number;
    }
    if (row->is_list && !element) return {};
    const auto* value = std::get_if<Expression>(
        &row->values[row->is_list ? static_cast<std::size_t>(*element % row->values.size()) : 0]);
    return value == nullptr ? std::nullopt
                            : evaluate(*value, RowScope(architecture_), *this, element);
  }
  std::optional<std::string_view> text(std::string_view key) const override {
    const ArchitectureRow::Key* row = find(key);
    if (row == nullptr || row->is_list) return {};
    const auto* value = std::get_if<std::string>(&row->values[0]);
    if (value != nullptr && row->names_variant && !variant_.empty()) return variant_;
    return value == nullptr ? std::nullopt : std::optional<std::string_view>(*value);
  }
  std::optional<std::uint64_t> array_size(std::string_view key) const override {
    const ArchitectureRow::Key* row = find(key);
    if (row == nullptr || !row->is_list) return {};
    if (!row->is_per_layer) return row->values.size();
    return layers_of(architecture_, *this);
  }
  bool has_key(std::string_view key) const override { return find(key) != nullptr; }
  bool has_tensor(std::string_view name) const override {
    return std::ranges::find(tensors, name, &SampleTensor::name) != tensors.end();
  }
  std::optional<std::int64_t> tensor_size(std::string_view name,
                                          std::size_t dimension) const override {
    const auto found = std::ranges::find(tensors, name, &SampleTensor::name);
    if (found == tensors.end()) return {};
    return dimension < found->shape.size() ? static_cast<std::int64_t>(found->shape[dimension]) : 1;
  }
  std::optional<std::int64_t> vocabulary() const override {
    return static_cast<std::int64_t>(vocabulary_);
  }

  std::vector<SampleTensor> tensors;

 private:
  const ArchitectureRow::Key* find(std::string_view key) const {
    const RowScope scope(architecture_);
    for (const ArchitectureRow::Key& each : architecture_.row->keys) {
      if (each.values.empty() || scope.key_name(each.name) != key) continue;
      if (std::exchange(is_deciding_, true)) return &each;
      const auto is_there = holds(each.condition, scope, *this, {});
      is_deciding_ = false;
      return is_there == false ? nullptr : &each;
    }
    return nullptr;
  }

  const Architecture& architecture_;
  const SampleNumbers& numbers_;
  std::uint64_t vocabulary_;
  std::string_view variant_;
  mutable bool is_deciding_ = false;  ///< Conditions of keys may name one another.
};

SampleTensor sample_tensor(std::string name, std::vector<std::uint64_t> shape) {
  while (shape.size() > 1 && shape.back() == 1) shape.pop_back();
  const bool is_precise = shape.size() < 2 || has_precise_name(name);
  return {std::move(name), std::move(shape), is_precise};
}

Failure no_sample(const Architecture& architecture, std::string detail) {
  return fail(Errc::invalid_argument, architecture.name, std::move(detail));
}

Result<void> add_key(const ArchitectureRow::Key& row, const Architecture& architecture,
                     const SampleHeader& header, std::uint64_t layers,
                     std::vector<SampleKey>& keys) {
  const RowScope scope(architecture);
  if (row.values.empty() || holds(row.condition, scope, header, {}) == false) return {};
  SampleKey key{scope.key_name(row.name), row.type, row.is_list, {}};
  const std::uint64_t count = !row.is_list ? 1 : row.is_per_layer ? layers : row.values.size();
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto& value = row.values[static_cast<std::size_t>(i % row.values.size())];
    if (const auto* real = std::get_if<double>(&value)) {
      key.values.emplace_back(*real);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      key.values.emplace_back(std::string(header.text(key.name).value_or(*text)));
    } else {
      const auto number = header.number(key.name, row.is_list ? std::optional(i) : std::nullopt);
      if (!number) return no_sample(architecture, "no value for " + key.name);
      key.values.emplace_back(*number);
    }
  }
  keys.push_back(std::move(key));
  return {};
}

}  // namespace
}  // namespace architectures

using architectures::RowScope;

const std::vector<std::string_view>& architecture_names() { return architectures::house().names(); }

const Architecture* find_architecture(std::string_view name) {
  using architectures::Place;
  const auto& names = architecture_names();
  const auto found = std::ranges::lower_bound(names, name);
  if (found == names.end() || *found != name) return nullptr;
  static const auto places = std::make_unique<Place[]>(names.size());
  Place& place = places[static_cast<std::size_t>(found - names.begin())];
  std::call_once(place.once, [&] {
    if (auto row = architectures::house().read(name)) {
      place.architecture = *std::move(row);
    } else {  // a test reads every row, so that this does not happen
      place.architecture.name = name;
      place.architecture.waits = row.error();
      place.architecture.row = std::make_shared<const ArchitectureRow>();
    }
    using architectures::Abilities;
    if (const auto* can = find_row(architectures::ability_rows, &Abilities::name, name)) {
      place.architecture.is_imported = can->is_imported;
      place.architecture.is_exported = can->is_exported;
      place.architecture.is_evaluated = can->is_evaluated;
      place.architecture.has_projector = can->has_projector;
    }
  });
  return &place.architecture;
}

std::vector<std::string> missing_keys(const Architecture& architecture,
                                      const ArchitectureHeader& header) {
  const RowScope scope(architecture);
  std::vector<std::string> missing;
  if (!architecture.is_described()) return missing;
  for (const ArchitectureRow::Key& key : architecture.row->keys) {
    std::string name = scope.key_name(key.name);
    if (!key.is_required || header.has_key(name)) continue;
    if (architectures::holds(key.condition, scope, header, {}) == true) {
      missing.push_back(std::move(name));
    }
  }
  return missing;
}

std::optional<std::uint64_t> layers_of(const Architecture& architecture,
                                       const ArchitectureHeader& header) {
  if (!architecture.is_described()) return {};
  const RowScope scope(architecture);
  const auto* layers = scope.meaning_of("layers");
  const auto number =
      layers == nullptr ? std::nullopt : architectures::evaluate(*layers, scope, header, {});
  if (!number || *number < 0) return {};
  return static_cast<std::uint64_t>(*number);
}

std::vector<ExpectedTensor> expected_tensors(const Architecture& architecture,
                                             const ArchitectureHeader& header,
                                             std::optional<std::uint64_t> layer) {
  std::vector<ExpectedTensor> expected;
  if (!architecture.is_described()) return expected;
  architectures::for_each_tensor(
      architecture, header, layer, [&](const ArchitectureRow::Tensor& tensor, const auto& scope) {
        expected.push_back({architectures::tensor_name(tensor.name, tensor.is_of_layers, layer),
                            architectures::shape_of(tensor, scope, header, layer),
                            !tensor.is_optional});
      });
  return expected;
}

std::vector<ArchitectureFact> facts_of(const Architecture& architecture,
                                       const ArchitectureHeader& header) {
  std::vector<ArchitectureFact> result;
  if (!architecture.is_described()) return result;
  const RowScope scope(architecture);
  for (const ArchitectureRow::Fact& fact : architecture.row->facts) {
    if (fact.is_memory || architectures::holds(fact.condition, scope, header, {}) != true) continue;
    ArchitectureFact told{fact.name, {}};
    if (const auto text = architectures::text_of(fact.value.text, scope, header))
      told.value = *text;
    else if (const auto number = architectures::evaluate(fact.value, scope, header, {}))
      told.value = *number;
    else
      continue;
    auto* before = find_row(result, &ArchitectureFact::name, told.name);
    before != nullptr ? void(*before = told) : result.push_back(told);
  }
  return result;
}

std::vector<UncheckedVariant> unchecked_variants(const Architecture& architecture,
                                                 const ArchitectureHeader& header) {
  std::vector<UncheckedVariant> result;
  if (!architecture.is_described()) return result;
  const RowScope scope(architecture);
  bool is_any_on = architecture.row->variants.empty();
  for (const ArchitectureRow::Variants& variants : architecture.row->variants) {
    if (architectures::holds(variants.condition, scope, header, {}) != true) continue;
    is_any_on = true;
    const auto text = architectures::text_of(variants.name, scope, header);
    if (!text || scope.is_variant(variants.name, *text)) continue;
    // Several lines have the texts of one name.
    const bool is_known = std::ranges::count(variants.others, *text) != 0;
    auto* before = find_row(result, &UncheckedVariant::text, *text);
    before != nullptr ? void(before->is_known |= is_known) : result.push_back({*text, is_known});
  }
  if (!is_any_on) result.push_back({});
  return result;
}

std::vector<std::string_view> refusals_of(const Architecture& architecture,
                                          const ArchitectureHeader& header) {
  std::vector<std::string_view> result;
  if (!architecture.is_described()) return result;
  const RowScope scope(architecture);
  for (const ArchitectureRow::Refusal& refusal : architecture.row->refusals) {
    if (architectures::evaluate(refusal.condition, scope, header, {}).value_or(0) != 0) {
      result.emplace_back(refusal.sentence);
    }
  }
  return result;
}

Result<ArchitectureSample> plan_architecture_sample(const Architecture& architecture,
                                                    const SampleNumbers& numbers,
                                                    std::uint64_t vocabulary,
                                                    std::string_view variant) {
  constexpr std::uint64_t most_layers = 4096;
  if (!architecture.is_described()) {
    return architectures::no_sample(architecture, architecture.waits);
  }
  if (!variant.empty() && std::ranges::count(architecture.variants, variant) == 0) {
    return architectures::no_sample(
        architecture, "\"" + std::string(variant) +
                          "\" is not described; these are: " + joined(architecture.variants));
  }
  architectures::SampleHeader header(architecture, numbers, vocabulary, variant);
  const auto layers = layers_of(architecture, header);
  if (!layers || *layers > most_layers) {
    return architectures::no_sample(architecture, "no number of layers");
  }
  ArchitectureSample sample;
  for (const ArchitectureRow::Key& key : architecture.row->keys) {
    INGOT_TRY_VOID(architectures::add_key(key, architecture, header, *layers, sample.keys));
  }
  std::string fault;
  const auto add_once = [&](std::optional<std::uint64_t> layer, bool is_first) {
    fault.clear();
    const std::size_t before = header.tensors.size();
    architectures::for_each_tensor(
        architecture, header, layer, [&](const ArchitectureRow::Tensor& tensor, const auto& scope) {
          if (!tensor.is_sampled ||
              architectures::holds(tensor.sampled, scope, header, layer) != true) {
            return;
          }
          std::string name = architectures::tensor_name(tensor.name, tensor.is_of_layers, layer);
          if (!is_first && header.has_tensor(name)) return;
          auto shape = architectures::shape_of(tensor, scope, header, layer);
          if (std::ranges::count(shape, 0u) != 0)
            fault = name;
          else
            header.tensors.push_back(
                architectures::sample_tensor(std::move(name), std::move(shape)));
        });
    return header.tensors.size() != before;
  };
  // A shape may be that of a tensor whose line comes later.
  const auto add = [&](std::optional<std::uint64_t> layer) {
    for (bool is_first = true; add_once(layer, is_first) && !fault.empty();) is_first = false;
  };
  add({});
  for (std::uint64_t layer = 0; layer < *layers && fault.empty(); ++layer) add(layer);
  if (!fault.empty()) {
    return architectures::no_sample(architecture, "no shape for " + fault);
  }
  sample.tensors = std::move(header.tensors);
  return sample;
}

}  // namespace ingot
