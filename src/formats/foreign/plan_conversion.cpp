// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>

#include "base/paths.hpp"
#include "formats/foreign/planner.hpp"

namespace ingot {
namespace formats {
namespace {

constexpr std::array writers = {
#define INGOT_FORMAT(enumerator, name, ending, reader, writer) PlanFunction{writer},
#include "ingot/formats.def"
};

Result<void> check_type(const ConvertOptions& options) {
  if (!options.type || is_float(*options.type)) return {};
  return fail(Errc::invalid_argument, "type",
              "convert supports F32, F16, BF16 and F64; use `quantize` for other types");
}

/// Checks that no output is an input or another output.
Result<void> check_outputs(const Model& model, const std::vector<std::string>& inputs,
                           const Conversion& conversion) {
  const std::vector<std::string>& outputs = conversion.outputs();
  for (const std::string& output : outputs) {
    const auto is_output = [&](const std::string& path) { return is_same_file(path, output); };
    if (std::ranges::any_of(inputs, is_output) ||
        std::ranges::any_of(model.files(),
                            [&](const ModelFile& file) { return is_output(file.path); })) {
      return fail(Errc::same_file, output);
    }
    if (std::ranges::count(outputs, output) > 1) {
      return fail(Errc::invalid_argument, output, "two outputs have one name");
    }
  }
  return {};
}

}  // namespace

}  // namespace formats

Conversion::~Conversion() = default;

Result<std::unique_ptr<Conversion>> plan_conversion(const Model& model, FileFormat format,
                                                    const std::string& path,
                                                    const ConvertOptions& options) {
  INGOT_TRY_VOID(formats::check_type(options));
  if (path.empty()) return fail(Errc::invalid_argument, "path", "it is empty");
  if (model.files().size() < model.shard_count()) {
    return fail(Errc::shard_mismatch, {}, "a shard is missing; a part of a model is not converted");
  }
  const auto row = static_cast<std::size_t>(format);
  const formats::PlanFunction plan =
      row < formats::writers.size() ? formats::writers[row] : nullptr;
  if (plan == nullptr) {
    return fail(Errc::invalid_argument, std::string(name_of(format)), "nothing writes this format");
  }
  INGOT_TRY(std::unique_ptr<Conversion> conversion, plan(model, path, options));
  INGOT_TRY_VOID(formats::check_outputs(model, options.inputs, *conversion));
  return conversion;
}

}  // namespace ingot
