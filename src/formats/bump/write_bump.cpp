// SPDX-License-Identifier: MIT
// Writes bump files, and the configuration and manifest beside them.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "formats/bump/bump_checksum.hpp"
#include "formats/bump/bump_plan.hpp"
#include "formats/bump/bump_texts.hpp"
#include "formats/foreign/planner.hpp"
#include "ingot/digest.hpp"
#include "ingot/output_set.hpp"

namespace ingot::formats {
namespace {

/// Writes the payload and computes its checksum on the way.
class PayloadSink final : public TensorSink {
 public:
  explicit PayloadSink(OutputFile& file) : file_(file), digest_(DigestAlgorithm::sha256) {}

  Result<void> begin(const OutputTensor&) override { return {}; }
  Result<void> write(std::span<const std::byte> piece) override {
    digest_.update(piece);
    return file_.write(piece);
  }
  Result<void> end() override { return {}; }

  [[nodiscard]] std::vector<std::byte> checksum() {
    return formats::bytes_of_digits(digest_.finish());
  }

 private:
  OutputFile& file_;
  Digest digest_;
};

std::string config_path_of(const std::string& path, const BumpOptions& options) {
  if (options.config_path) return *options.config_path;
  return path.substr(0, path.rfind('/') + 1) + "config.json";
}

class BumpConversion final : public Conversion {
 public:
  BumpConversion(const Model& model, const ConvertOptions& options)
      : model_(model), options_(options) {}

  Result<void> plan(const std::string& path) {
    INGOT_TRY(plan_, plan_bump_file(model_, options_.bump));
    remarks_ = plan_.remarks;
    total_bytes_ = plan_.payload_bytes;
    outputs_ = {path, config_path_of(path, options_.bump)};
    if (options_.bump.manifest_path) outputs_.push_back(*options_.bump.manifest_path);
    return {};
  }

  Result<void> run(const WriteProgress& progress) const override {
    OutputSet outputs(options_.replace);
    INGOT_TRY_VOID(outputs.add_text(outputs_[1], bump_config_text(plan_)));
    if (outputs_.size() > 2) {
      INGOT_TRY_VOID(outputs.add_text(outputs_[2], bump_manifest_text(plan_)));
    }
    INGOT_TRY(OutputFile* const file,
              outputs.add(outputs_[0], formats::bump_header_bytes + plan_.payload_bytes));
    // The header has no magic until the checksum is known.
    INGOT_TRY_VOID(file->write(formats::BumpHeaderBytes{}));
    PayloadSink sink(*file);
    INGOT_TRY_VOID(write_table(sink));
    INGOT_TRY_VOID(stream_tensors(model_, plan_.tensors, sink,
                                  {.thread_count = options_.thread_count}, progress));
    formats::BumpHeaderBytes header = formats::make_bump_header(plan_.version, plan_.shape);
    const std::vector<std::byte> checksum = sink.checksum();
    std::copy(
        checksum.begin(), checksum.end(),
        header.begin() + static_cast<std::ptrdiff_t>(formats::bump_checksum_offset(plan_.version)));
    INGOT_TRY_VOID(file->overwrite(0, header));
    return outputs.commit();
  }

 private:
  Result<void> write_table(PayloadSink& sink) const {
    std::vector<std::byte> table;
    std::uint64_t count = plan_.table.size();
    for (int i = 0; i < 4; ++i, count >>= 8) table.push_back(static_cast<std::byte>(count & 0xFF));
    for (const std::uint8_t code : plan_.table) table.push_back(static_cast<std::byte>(code));
    return sink.write(table);
  }

  const Model& model_;
  ConvertOptions options_;
  BumpPlan plan_;
};

}  // namespace

Result<std::unique_ptr<Conversion>> plan_bump(const Model& model, const std::string& path,
                                              const ConvertOptions& options) {
  return planned<BumpConversion>(model, path, options);
}

}  // namespace ingot::formats
