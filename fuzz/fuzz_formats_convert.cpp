// SPDX-License-Identifier: MIT
// Property: whatever opens can be summed up, explained, measured, converted, split, merged,
// repaired and quantized: each ends in an ordinary error or in files that open and hold the same
// keys and tensors, the weights of which are the same where nothing was to be rounded.
//
// A hash of the file chooses the work, so that any GGUF file is a seed.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/siphash.hpp"
#include "ingot/anatomy.hpp"
#include "ingot/check.hpp"
#include "ingot/convert.hpp"
#include "ingot/diff.hpp"
#include "ingot/digest_manifest.hpp"
#include "ingot/interop.hpp"
#include "ingot/model.hpp"
#include "ingot/model_writer.hpp"
#include "ingot/output_file.hpp"
#include "ingot/parallel.hpp"
#include "ingot/quantize_model.hpp"
#include "ingot/repair.hpp"
#include "ingot/shard_name.hpp"
#include "ingot/source.hpp"
#include "ingot/split.hpp"
#include "ingot/summary.hpp"
#include "ingot/tensor_profile.hpp"
#include "ingot/tensor_statistics.hpp"

namespace {

using namespace ingot;
namespace fs = std::filesystem;
using Choice = std::array<std::uint8_t, 8>;

// More would take more time than all the rest.
constexpr std::uint64_t max_alignment = 4096;
constexpr std::uint64_t max_elements = 1 << 16;
constexpr std::uint64_t max_quantized_elements = 1 << 11;

void require(bool condition, int line = __builtin_LINE()) {
  if (condition) return;
  std::fprintf(stderr, "line %d\n", line);
  std::abort();
}

/// Passes on whether something worked; if not, for an ordinary reason.
template <class T>
bool is_ok(const Result<T>& result) {
  if (result) return true;
  require(result.error().code != Errc::internal && !name_of(result.error().code).empty());
  require(!result.error().message().empty());
  return false;
}

/// A folder in memory if there is such a place, for all that is written; emptied after each input.
const std::string& folder() {
  static const std::string path = [] {
    const char* const parent = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    return std::string(parent) + "/fuzz_formats_convert." + std::to_string(::getpid());
  }();
  return path;
}

class Work {
 public:
  Work(const Model& model, std::span<const std::byte> bytes, const OpenOptions& options,
       const Choice& choice)
      : model_(model), bytes_(bytes), options_(options), choice_(choice) {}

  void run() {
    look();
    measure();
    switch (choice_[0] % 10) {
      case 0:
        return convert_to_gguf();
      case 1:
        return convert_to_safetensors();
      case 2:
        return convert_to_any();
      case 3:
      case 4:
        return split_and_merge();
      case 5:
        return repair();
      case 6:
        return rewrite();
      default:
        return quantize();
    }
  }

 private:
  void look() const {
    const Summary summary = summarize(model_);
    require(summary.types.size() <= model_.tensors().size());
    static_cast<void>(find_architecture_key(model_, "context_length"));
    static_cast<void>(traits_of(model_));
    for (std::size_t file = 0; file < model_.files().size(); ++file) {
      std::uint64_t end = 0;
      visit_fields(model_, file, [&](const Field& field) {
        require(!name_of(field.section).empty() && field.file_offset == end);
        end += field.size_bytes;
        return true;
      });
      require(end == model_.files()[file].file_bytes);
    }
  }

  void measure() const {
    std::vector<const TensorInfo*> tensors;
    for (const TensorInfo& tensor : model_.tensors()) {
      tensors.push_back(&tensor);
      require((find_counterpart(model_, tensor) == &tensor) == (find_type(tensor.type) != nullptr));
    }
    for (const TensorInfo& tensor : model_.tensors()) decode(tensor);
    if (is_ok(compute_statistics(model_, tensors, 1))) {
      const ProfileOptions options{
          .bin_count = choice_[1], .reference = &model_, .thread_count = 1};
      require(is_ok(profile_tensors(model_, tensors, options)));
    }
    DigestRequest request;
    request.algorithms = {digest_algorithms[choice_[1] % digest_algorithms.size()].algorithm};
    request.has_weights = request.has_uuid = true;
    request.thread_count = 1;
    const auto digests = compute_digests(model_, request);
    require(is_ok(digests) && digests->tensors.size() == tensors.size());
    const DigestTable& of_tensors = digests->tensors;
    if (!of_tensors.empty()) require(of_tensors[0] == of_tensors[0]);
    static_cast<void>(find_mismatches({}, model_, *digests));
  }

  void decode(const TensorInfo& tensor) const {
    std::vector<float> floats(static_cast<std::size_t>(tensor.element_count));
    const Endian byte_order = model_.files()[0].byte_order;
    const std::span<const std::byte> data = model_.data(tensor);
    if (!is_ok(dequantize_spread(tensor.type, data, floats, 1, {.byte_order = byte_order}))) return;
    std::vector<std::byte> encoded(data.size());
    is_ok(quantize_spread(TensorType::f32, floats, floats.size(), encoded, 1));
  }

  /// Opens what was written, which must hold what the model does.
  void require_same(const std::string& path, bool has_same_types) const {
    const Result<OpenedModel> written = open_any(path, {.gguf = options_, .progress = {}});
    require(written.has_value() && detect_format(path) == written->format);
    require(!name_of(written->format).empty());
    const auto difference = find_differences(model_, written->model, {.thread_count = 1});
    if (!is_ok(difference)) return;
    require(difference->keys.empty() && (!has_same_types || difference->is_same()));
    const auto pairs = find_pairs(model_, written->model);
    const auto distances = measure_distances(model_, written->model, pairs, 1);
    if (!is_ok(distances) || !has_same_types) return;
    require(pairs.size() == model_.tensors().size());
    for (const WeightDistance& distance : *distances) require(distance.is_same());
  }

  void convert_to_gguf() const {
    ConvertOptions options;
    options.version = 3;
    options.byte_order = (choice_[1] & 1) != 0 ? Endian::big : Endian::little;
    options.thread_count = 1;
    const std::string path = folder() + "/out.gguf";
    const auto conversion = plan_conversion(model_, FileFormat::gguf, path, options);
    if (is_ok(conversion) && is_ok((*conversion)->run())) require_same(path, true);
  }

  void convert_to_safetensors() const {
    ConvertOptions options;
    options.max_file_bytes = (choice_[1] & 2) != 0 ? 300 : 0;
    options.thread_count = 1;
    const std::string path = folder() + "/out.safetensors";
    const auto conversion = plan_conversion(model_, FileFormat::safetensors, path, options);
    if (!is_ok(conversion) || !is_ok((*conversion)->run())) return;
    const std::string& main = (*conversion)->outputs().back();
    require(is_ok(open_any(main)));
  }

  void convert_to_any() const {
    ConvertOptions options;
    options.type = live_tensor_types[choice_[2] % live_tensor_types.size()].type;
    options.thread_count = 1;
    options.bump.version = choice_[3] % 6u;
    options.bump.allow_loss = (choice_[4] & 1) != 0;
    options.bump.widen = (choice_[4] & 2) != 0;
    const FileFormatInfo& format = file_formats[choice_[1] % file_formats.size()];
    const std::string path = folder() + "/out" + std::string(format.ending);
    const auto conversion = plan_conversion(model_, format.format, path, options);
    if (is_ok(conversion)) is_ok((*conversion)->run());
  }

  void split_and_merge() const {
    SplitLimits limits;
    if ((choice_[1] & 1) != 0) limits.max_bytes = choice_[2] * std::uint64_t{64};
    if ((choice_[1] & 2) != 0) limits.max_tensors = choice_[3] % 4u;
    if ((choice_[1] & 4) != 0) limits.shard_count = choice_[4] % 8u;
    limits.is_first_without_tensors = (choice_[1] & 8) != 0;
    is_ok(describe_abnormal_form(model_));
    is_ok(merged_bytes(model_));
    const auto plan = plan_split(model_, limits);
    if (!is_ok(plan) || plan->shards.size() > 64) return;
    const std::string prefix = folder() + "/part";
    if (!is_ok(write_shards(model_, *plan, prefix))) return;
    const auto count = static_cast<std::uint32_t>(plan->shards.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      require(fs::file_size(shard_file_name(prefix, i, count)) == plan->shards[i].file_bytes);
      require(is_ok(shard_keys(model_, *plan, i).serialise_header({1, Endian::little})) ||
              model_.files()[0].version != 1);
    }
    const auto set = Model::open(shard_file_name(prefix, 0, count), options_);
    require(is_ok(set) && find_differences(model_, *set, {.with_data = false})->tensors.empty());
    if (!is_ok(check_mergeable(*set))) return;
    const std::string path = folder() + "/merged.gguf";
    require(is_ok(merge(*set, path)) && fs::file_size(path) == *merged_bytes(*set));
    require_same(path, true);
  }

  void rewrite() const {
    Result<ModelWriter> writer = ModelWriter::from(model_);
    if (!is_ok(writer)) return;
    const WriteFormat format{1 + choice_[1] % 3u, Endian::little};
    const std::string path = folder() + "/out.gguf";
    const auto file_bytes = writer->file_bytes(format);
    if (is_ok(file_bytes) && is_ok(writer->write(path, format))) {
      require(fs::file_size(path) == *file_bytes);
      require_same(path, true);
    }
    const auto keys = writer->metadata();
    if (keys.empty()) return;
    const std::string key(keys[choice_[2] % keys.size()].key);
    require(writer->find(key).has_value());
    is_ok(writer->rename(key, "fuzz.renamed"));
    writer->set_value("fuzz.copied", model_.metadata()[0].value);
    require(!writer->remove("fuzz.absent"));
    is_ok(writer->write(path, format, true));
  }

  void repair() const {
    const std::string path = folder() + "/in.gguf";
    {
      Result<OutputFile> file = OutputFile::create(path, true);
      if (!file || !file->write(bytes_) || !file->commit()) return;
    }
    require(map_file(path).has_value());
    const CheckOptions check_options{.with_data = true, .thread_count = 1};
    require(is_ok(check_file(path, options_, check_options, [](const Finding&) {})));
    RepairOptions options;
    options.drops_broken = (choice_[1] & 1) != 0;
    options.thread_count = 1;
    const std::string target = folder() + "/out.gguf";
    const auto report = repair_model(path, target, options);
    require(is_ok(report) && report->is_written == fs::exists(target));
    if (!report->is_written) return;
    const auto mended = Model::open(target);
    require(is_ok(mended) && mended->tensors().size() == report->kept_tensors);
    options.is_dry_run = true;
    const auto again = repair_model(target, path + ".again", options);
    require(is_ok(again) && again->steps.empty() && again->losses.empty());
  }

  void quantize() const {
    QuantizeModelOptions options;
    options.recipe = &recipes()[choice_[1] % recipes().size()];
    options.types.is_pure = (choice_[2] & 1) != 0;
    options.types.leaves_output = (choice_[2] & 2) != 0;
    if ((choice_[2] & 4) != 0) options.types.patterns = {{"ffn|.*w", TensorType::q8_0}};
    options.allows_requantize = (choice_[2] & 8) == 0;
    options.allows_nan = (choice_[2] & 16) == 0;
    options.keeps_shards = (choice_[2] & 32) != 0;
    options.thread_count = 1;
    if ((choice_[2] & 64) != 0) {
      options.recipe = nullptr;
      options.target_bits_per_weight = choice_[3] / 16.0;
    }
    std::uint64_t elements = 0;
    for (const TensorInfo& tensor : model_.tensors()) elements += tensor.element_count;
    if (elements > max_quantized_elements) return;
    static_cast<void>(quantize_order(model_.tensors()));
    if (options.recipe != nullptr) {
      is_ok(choose_types(model_.tensors(), traits_of(model_), *options.recipe, options.types));
    }
    const auto plan = plan_quantization(model_, options);
    if (!is_ok(plan)) return;
    require(plan->tensors.size() == model_.tensors().size());
    for (const PlannedTensor& tensor : plan->tensors) {
      require(!explain(tensor.choice, *tensor.source, options.types).empty());
      require(!name_of(tensor.choice.reason).empty());
    }
    write_quantized(*plan, options);
  }

  void write_quantized(const QuantizePlan& plan, const QuantizeModelOptions& options) const {
    std::vector<QuantizedShard> shards = kept_shards(model_, plan);
    if (!options.keeps_shards && (choice_[3] & 1) != 0) {
      auto cut = cut_shards(model_, plan, options, {.shard_count = choice_[4] % 5u});
      if (!is_ok(cut)) return;
      shards = *std::move(cut);
    }
    QuantizedShard& shard = shards[choice_[5] % shards.size()];
    shard.path = folder() + "/out.gguf";
    const auto bytes = quantized_file_bytes(model_, plan, options, shard);
    if (!is_ok(bytes)) return;
    const auto errors = (choice_[3] & 2) != 0
                            ? quantize_set(model_, plan, options, {&shard, 1}, false)
                            : quantize_model(model_, plan, options, shard, false);
    if (!is_ok(errors)) return;
    require(errors->size() == shard.tensor_count.value_or(plan.tensors.size()) &&
            fs::file_size(shard.path) == *bytes);
    TensorError sum;
    for (const TensorError& error : *errors) sum.add(error);
    static_cast<void>(sum.relative());
    static_cast<void>(sum.slope());
    static_cast<void>(sum.relative_output());
    OpenOptions alone = options_;
    alone.with_shards = false;
    require(is_ok(Model::open(shard.path, alone)));
    write_twice(plan, options, shard);
  }

  /// Two results of one reading are the one of a reading of its own.
  void write_twice(const QuantizePlan& plan, const QuantizeModelOptions& options,
                   const QuantizedShard& written) const {
    std::array<QuantizedShard, 2> shards = {written, written};
    std::array<PlannedResult, 2> results;
    for (std::size_t i = 0; i < shards.size(); ++i) {
      shards[i].path = folder() + "/out" + std::to_string(i) + ".gguf";
      results[i] = {&plan, &options, {&shards[i], 1}};
    }
    require(is_ok(quantize_together(model_, results, false)));
    const auto alone = map_file(written.path);
    require(is_ok(alone));
    for (const QuantizedShard& shard : shards) {
      const auto together = map_file(shard.path);
      require(is_ok(together) && std::ranges::equal((*together)->bytes(), (*alone)->bytes()));
    }
  }

  const Model& model_;
  std::span<const std::byte> bytes_;
  OpenOptions options_;
  Choice choice_;
};

bool is_small(const Model& model) {
  std::uint64_t elements = 0;
  for (const TensorInfo& tensor : model.tensors()) {
    if (tensor.element_count > max_elements - elements) return false;
    elements += tensor.element_count;
  }
  return model.files()[0].alignment <= max_alignment;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const std::uint64_t hash =
      siphash_1_3({}, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const auto choice = std::bit_cast<Choice>(hash);
  const OpenOptions options{.is_lenient = (choice[7] & 3) == 0};
  const Result<Model> model = Model::open_memory(bytes, options);
  if (!model || !is_small(*model)) return 0;
  fs::create_directory(folder());
  Work(*model, bytes, options, choice).run();
  fs::remove_all(folder());
  return 0;
}
