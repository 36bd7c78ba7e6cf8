// SPDX-License-Identifier: MIT
#include "ingot/repair.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "base/messages.hpp"
#include "base/paths.hpp"
#include "check/data_scan.hpp"
#include "check/pretended_source.hpp"
#include "check/repair_input.hpp"
#include "format/parse.hpp"
#include "ingot/check.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/model_writer.hpp"
#include "types/recipe_weights.hpp"

namespace ingot {
namespace {

using check::RepairInput;
using format::max_dimensions;
using format::max_name_bytes;

constexpr std::uint64_t max_alignment = std::uint64_t{1} << 20;

/// Rules of `ingot check` whose findings go away when the model is written again.
constexpr std::pair<std::string_view, std::string_view> written_anew[] = {
    {"old_magic", "it begins with GGUF now"},
    {"trailing_nul", "strings are without their trailing NUL now"},
    {"data_order", "data is in the order of the tensor table now"},
    {"data_gap", "data is without gaps now"},
    {"final_padding", "there is padding after the last tensor now"},
    {"padding_not_zero", "padding is zero now"},
    {"trailing_data", "what followed the last tensor is gone"},
};

class Repair {
 public:
  Repair(RepairInput input, const RepairOptions& options)
      : input_(std::move(input)), options_(options), model_(input_.model) {
    report_.steps = input_.steps;
  }

  Result<RepairReport> run(const std::string& target) {
    INGOT_TRY_VOID(look());
    choose_tensors();
    if (!report_.losses.empty()) return std::move(report_);
    INGOT_TRY_VOID(add_keys());
    INGOT_TRY_VOID(add_tensors());
    INGOT_TRY(const WriteFormat format, choose_format());
    if (report_.steps.empty() || options_.is_dry_run) return std::move(report_);
    INGOT_TRY_VOID(writer_.write(target, format, options_.may_replace, options_.progress));
    report_.is_written = true;
    return std::move(report_);
  }

 private:
  void add_step(std::string what, std::string_view key = {}, std::string_view tensor = {}) {
    report_.steps.push_back({std::move(what), std::string(key), std::string(tensor)});
  }

  /// Finds which rules are broken, and which tensors.
  Result<void> look() {
    const FindingSink sink = [&](const Finding& finding) { rules_.emplace(finding.rule->name); };
    const Result<CheckSummary> summary =
        check_model(model_, {.thread_count = options_.thread_count}, sink);
    if (!summary && !input_.is_cut) return fail(summary.error());
    for (const auto& [rule, what] : written_anew) {
      // The data beyond the end of a cut file is unknown.
      const bool is_about_end = rule == "final_padding" || rule == "trailing_data";
      if (rules_.contains(rule) && !(input_.is_cut && is_about_end)) add_step(std::string(what));
    }
    return options_.drops_broken ? look_at_weights() : Result<void>();
  }

  Result<void> look_at_weights() {
    std::vector<const TensorInfo*> present;
    for (const TensorInfo& tensor : model_.tensors()) {
      if (is_there(tensor)) present.push_back(&tensor);
    }
    INGOT_TRY(const std::vector<check::TensorScan> scans,
              check::scan_tensors(model_, present, {.thread_count = options_.thread_count}));
    for (const check::TensorScan& scan : scans) {
      if (scan.bad_count != 0) bad_tensors_.insert(scan.tensor);
    }
    return {};
  }

  [[nodiscard]] bool is_there(const TensorInfo& tensor) const {
    return !input_.is_cut || check::is_complete(model_, input_.present_bytes, tensor);
  }

  /// Why a tensor cannot stay; empty if it can.
  [[nodiscard]] std::string problem_of(const TensorInfo& tensor) const {
    if (!is_there(tensor)) return "it is cut off";
    if (find_type(tensor.type) == nullptr) return "its type is unknown";
    if (kept_shape(tensor).size() > max_dimensions) return "it has too many dimensions";
    // Programs that look for the tensor would not find a shorter name.
    if (tensor.name.size() > max_name_bytes) return "its name has more than 64 bytes";
    if (bad_tensors_.contains(&tensor)) return "its weights are not finite";
    return {};
  }

  /// The shape without dimensions of 1 beyond the fourth.
  [[nodiscard]] static std::span<const std::uint64_t> kept_shape(const TensorInfo& tensor) {
    std::span<const std::uint64_t> shape = tensor.shape;
    while (shape.size() > max_dimensions && shape.back() == 1)
      shape = shape.first(shape.size() - 1);
    return shape;
  }

  /// Counts the tensors of missing shards by the total of the set.
  void choose_shards() {
    const std::uint64_t missing_shards = model_.shard_count() - model_.files().size();
    if (missing_shards == 0) return;
    const Result<std::uint64_t> total = model_.get<std::uint64_t>(keys::split_tensors_count);
    const std::uint64_t present = model_.tensors().size();
    const std::uint64_t missing = total.value_or(0) > present ? *total - present : 0;
    const std::string what = std::to_string(missing_shards) + " of " +
                             plural(model_.shard_count(), "shard") +
                             (missing_shards == 1 ? " is" : " are") + " missing";
    if (options_.drops_broken) {
      report_.dropped_tensors += missing;
      return add_step("left out: " + what);
    }
    report_.losses.push_back({what, {}, {}});
    report_.lost_tensors += missing;
  }

  void choose_tensors() {
    choose_shards();
    for (const TensorInfo& tensor : model_.tensors()) {
      const std::string problem = problem_of(tensor);
      if (problem.empty()) {
        kept_.push_back(&tensor);
        continue;
      }
      if (!options_.drops_broken) {
        report_.losses.push_back({problem, {}, std::string(tensor.name)});
        ++report_.lost_tensors;
        continue;
      }
      add_step("left out: " + problem, {}, tensor.name);
      ++report_.dropped_tensors;
    }
    report_.kept_tensors = kept_.size();
  }

  /// Sets a key whose value is a number, if it has to be another one; returns whether it did.
  bool set_repaired(std::string_view key, const Value& value) {
    const std::uint64_t alignment = model_.files()[0].alignment;
    if (key == keys::general_alignment) {
      if (std::has_single_bit(alignment) && alignment <= max_alignment && alignment >= 8) {
        return false;
      }
      writer_.set(key, default_alignment);
      add_step("it was " + std::to_string(alignment) + ", it is 32 now", key);
      return true;
    }
    if (key == keys::general_quantization_version && value.type() != ValueType::uint32) {
      writer_.set(key, std::uint32_t{2});
      add_step("it was a " + std::string(name_of(value.type())) + ", it is the uint32 2 now", key);
      return true;
    }
    return key == keys::general_file_type && set_file_type(value);
  }

  /// By the tensors that are kept.
  bool set_file_type(const Value& value) {
    RecipeWeights weights;
    for (const TensorInfo* tensor : kept_) weights.add(*tensor, tensor->type);
    const Result<std::uint64_t> stored = value.get<std::uint64_t>();
    if (!stored || !weights.contradict(*stored)) return false;
    const auto file_type = file_type_of(*weights.most());
    if (!file_type) return false;
    writer_.set(keys::general_file_type, *file_type);
    add_step("it is " + std::to_string(*file_type) + ", " +
                 std::string(file_type_name(*file_type)) + ", now",
             keys::general_file_type);
    return true;
  }

  /// Copies a value without its flaws, whatever it means.
  Result<void> set_clean(std::string_view key, const Value& value) {
    const bool cuts_nuls = rules_.contains("trailing_nul");
    if (!cuts_nuls && !input_.is_lenient) {  // so it needs no look
      writer_.borrow_value(key, value);
      return {};
    }
    INGOT_TRY(const check::RepairedValue repaired, check::repair_value(value, cuts_nuls));
    writer_.set_value(key, repaired.value.value());
    if (repaired.has_set_bools) {
      add_step(value.is_array() ? "its bools are 0 and 1 now" : "it is 1 now", key);
    }
    return {};
  }

  Result<void> add_keys() {
    // They count tensors, too.
    const bool drops_split =
        model_.shard_count() > 1 || rules_.contains("split_keys") || report_.dropped_tensors != 0;
    for (const KeyValue& entry : model_.metadata()) {
      if (drops_split && entry.key.starts_with("split.")) {
        add_step("removed: the model is one file now", entry.key);
        continue;
      }
      if (!set_repaired(entry.key, entry.value)) {
        INGOT_TRY_VOID(set_clean(entry.key, entry.value));
      }
    }
    if (rules_.contains("quantization_version") &&
        model_.find(keys::general_quantization_version) == nullptr) {
      writer_.set(keys::general_quantization_version, std::uint32_t{2});
      add_step("added: 2", keys::general_quantization_version);
    }
    return {};
  }

  Result<void> add_tensors() {
    for (const TensorInfo* tensor : kept_) {
      const std::span<const std::uint64_t> shape = kept_shape(*tensor);
      if (shape.size() == tensor->shape.size()) {
        INGOT_TRY_VOID(writer_.add_tensor(tensor->name, model_, *tensor));
        continue;
      }
      add_step("it has " + std::to_string(shape.size()) + " dimensions now", {}, tensor->name);
      INGOT_TRY_VOID(writer_.add_tensor(
          tensor->name, tensor->type, shape,
          [this, tensor](const DataSink& sink) { return copy_data(*tensor, sink); }));
    }
    return {};
  }

  /// The file's own version, if that has a place for everything that the file holds.
  Result<WriteFormat> choose_format() {
    const ModelFile& file = model_.files()[0];
    WriteFormat format{.version = file.version, .byte_order = file.byte_order};
    Result<std::uint64_t> file_bytes = writer_.file_bytes(format);
    if (!file_bytes && file_bytes.error().code == Errc::version_cannot_hold) {
      format.version = 3;
      add_step("it is version 3 now: version " + std::to_string(file.version) +
               " has no place for all its values");
      file_bytes = writer_.file_bytes(format);
    }
    if (!file_bytes) return fail(std::move(file_bytes).error());
    return format;
  }

  Result<void> copy_data(const TensorInfo& tensor, const DataSink& sink) const {
    std::vector<std::byte> buffer(static_cast<std::size_t>(
        std::min<std::uint64_t>(tensor.size_bytes, std::uint64_t{1} << 20)));
    for (std::uint64_t done = 0; done < tensor.size_bytes;) {
      const auto size = static_cast<std::size_t>(
          std::min<std::uint64_t>(buffer.size(), tensor.size_bytes - done));
      INGOT_TRY_VOID(model_.read(tensor, done, std::span(buffer).first(size)));
      INGOT_TRY_VOID(sink(std::span(buffer).first(size)));
      done += size;
    }
    return {};
  }

  RepairInput input_;
  const RepairOptions& options_;
  const Model& model_;
  RepairReport report_;
  std::set<std::string, std::less<>> rules_;
  std::set<const TensorInfo*> bad_tensors_;
  std::vector<const TensorInfo*> kept_;
  ModelWriter writer_;
};

}  // namespace

Result<RepairReport> repair_model(const std::string& path, const std::string& target,
                                  const RepairOptions& options) {
  if (is_same_file(path, target)) {
    return fail(Errc::invalid_argument, target, "a model is repaired into a new file");
  }
  INGOT_TRY(RepairInput input, check::open_for_repair(path));
  for (const ModelFile& file : input.model.files()) {
    if (file.byte_order != input.model.files()[0].byte_order) {
      return fail(Errc::shard_mismatch, file.path, "its byte order is another one");
    }
  }
  return Repair(std::move(input), options).run(target);
}

}  // namespace ingot
