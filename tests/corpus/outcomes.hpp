// SPDX-License-Identifier: MIT
// Hostile and unusual files, by what `ingot check --data` has to say about them. They are made when
// they are needed; nothing of them is stored.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/gguf_builder.hpp"

namespace ingot::test {

enum class Outcome : std::uint8_t {
  clean,    ///< Opens; notes at most.
  warned,   ///< Opens; a rule is broken.
  refused,  ///< Does not open.
};

struct OutcomeFile {
  Outcome outcome;
  std::string name;
  Bytes bytes;
};

class OutcomeCorpus {
 public:
  void clean(std::string name, const Bytes& bytes) { add(Outcome::clean, std::move(name), bytes); }
  void warned(std::string name, const Bytes& bytes) {
    add(Outcome::warned, std::move(name), bytes);
  }
  void refused(std::string name, const Bytes& bytes) {
    add(Outcome::refused, std::move(name), bytes);
  }

  [[nodiscard]] const std::vector<OutcomeFile>& files() const noexcept { return files_; }

 private:
  void add(Outcome outcome, std::string name, const Bytes& bytes) {
    files_.push_back({outcome, std::move(name), bytes});
  }

  std::vector<OutcomeFile> files_;
};

// Each adds the files about one part of the format.
void add_header_outcomes(OutcomeCorpus& corpus);
void add_key_outcomes(OutcomeCorpus& corpus);
void add_tensor_outcomes(OutcomeCorpus& corpus);
void add_data_outcomes(OutcomeCorpus& corpus);
void add_meaning_outcomes(OutcomeCorpus& corpus);

[[nodiscard]] inline OutcomeCorpus make_outcome_corpus() {
  OutcomeCorpus corpus;
  add_header_outcomes(corpus);
  add_key_outcomes(corpus);
  add_tensor_outcomes(corpus);
  add_data_outcomes(corpus);
  add_meaning_outcomes(corpus);
  return corpus;
}

// --- what the builders have in common ------------------------------------------------------------

/// A file with the one key that all must have.
[[nodiscard]] inline GgufBuilder start(Format format = v3, std::string_view magic = "GGUF") {
  GgufBuilder file(format, magic);
  file.pair("general.architecture", "test");
  return file;
}

/// Adds a tensor of 8 floats and its data.
[[nodiscard]] inline Bytes with_floats(GgufBuilder file, std::size_t alignment = 32) {
  file.tensor("t.weight", {8}, TensorType::f32, 0).pad_to(alignment).data(32);
  return file.pad_to(alignment).bytes();
}

/// One tensor with `data_bytes` of data.
[[nodiscard]] inline Bytes with_one(GgufBuilder file, std::string_view name,
                                    const std::vector<std::uint64_t>& shape, TensorType type,
                                    std::uint64_t offset = 0, std::size_t data_bytes = 64) {
  file.tensor(name, shape, type, offset).pad_to(32);
  return file.data(data_bytes).pad_to(32).bytes();
}

[[nodiscard]] inline Bytes cut(Bytes bytes, std::size_t size) {
  bytes.resize(std::min(size, bytes.size()));
  return bytes;
}

[[nodiscard]] inline std::string format_name(Format format) {
  return "v" + std::to_string(format.version) + (format.byte_order == Endian::big ? "_big" : "");
}

}  // namespace ingot::test
