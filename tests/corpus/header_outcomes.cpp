// SPDX-License-Identifier: MIT
// Magic, version, counts, and files that end too early.
#include "corpus/outcomes.hpp"
#include "support/sample_files.hpp"

namespace ingot::test {
namespace {

using namespace std::string_view_literals;

Bytes text(std::string_view content) {
  const auto bytes = std::as_bytes(std::span(content));
  return {bytes.begin(), bytes.end()};
}

void add_magics(OutcomeCorpus& corpus) {
  corpus.refused("magic_empty_file", {});
  corpus.refused("magic_one_byte", text("G"));
  corpus.refused("magic_three_bytes", text("GGU"));
  corpus.refused("magic_alone", text("GGUF"));
  corpus.refused("magic_lower_case", GgufBuilder(v3, "gguf").bytes());
  corpus.refused("magic_html", text("<!DOCTYPE html><html><body>404</body></html>"));
  corpus.refused("magic_lfs", text("version https://git-lfs.github.com/spec/v1\noid sha256:00\n"));
  corpus.refused("magic_zip", text("PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0"sv));
  corpus.refused("magic_safetensors", text("\x10\0\0\0\0\0\0\0{\"t\":{}}        "sv));
  corpus.refused("magic_json", text("{\"error\": \"Repository not found\"}"));
  corpus.refused("magic_pickle", text("\x80\x02}q\0X\x04\0\0\0"sv));
  corpus.refused("magic_ggjt", text("tjgg\x03\0\0\0\0\0\0\0"sv));
  corpus.refused("magic_zeros", Bytes(4096, std::byte{0}));
  corpus.refused("magic_terminal_escape", text("\x1b]0;owned\x07 a page"));
  corpus.refused("magic_old_little_endian", GgufBuilder(v3, "FUGG").bytes());
  corpus.warned("magic_old_big_endian", with_floats(start(v3_big, "FUGG")));
}

void add_versions(OutcomeCorpus& corpus) {
  for (const std::uint32_t version : {0u, 4u, 5u, 255u, 10003u, 0x10000u, 0xFFFFFFFFu}) {
    corpus.refused("version_" + std::to_string(version),
                   GgufBuilder({version, Endian::little}).bytes());
  }
  for (const std::uint32_t version : {0u, 1u, 2u, 4u}) {
    corpus.refused("version_big_" + std::to_string(version),
                   GgufBuilder({version, Endian::big}).bytes());
  }
  for (const Format format : all_formats) {
    const std::string name = format_name(format);
    corpus.clean("version_" + name, with_floats(start(format)));
    corpus.clean("version_no_tensors_" + name, start(format).bytes());
    corpus.warned("version_nothing_" + name, GgufBuilder(format).bytes());
    corpus.warned("version_no_keys_" + name, with_floats(GgufBuilder(format)));
    // Counts of another version than the header says.
    corpus.warned("version_everything_" + name, file_of_everything(format));
  }
}

void add_counts(OutcomeCorpus& corpus) {
  const std::uint64_t counts[] = {1,
                                  2,
                                  1000,
                                  std::uint64_t{1} << 31,
                                  std::uint64_t{1} << 32,
                                  std::uint64_t{1} << 52,
                                  std::uint64_t{1} << 59,
                                  std::uint64_t{1} << 60,
                                  std::uint64_t{1} << 63,
                                  ~std::uint64_t{0} - 1,
                                  ~std::uint64_t{0}};
  for (const Format format : {v3, v3_big}) {
    for (const std::uint64_t count : counts) {
      const std::string name = std::to_string(count) + "_" + format_name(format);
      corpus.refused("count_tensors_" + name, GgufBuilder(format).set_counts(count, 0).bytes());
      corpus.refused("count_keys_" + name, GgufBuilder(format).set_counts(0, count).bytes());
    }
  }
  corpus.refused("count_tensors_v1", GgufBuilder(v1).set_counts(0xFFFFFFFF, 0).bytes());
  corpus.refused("count_keys_v1", GgufBuilder(v1).set_counts(0, 0xFFFFFFFF).bytes());
  corpus.refused("count_one_key_too_many", start().set_counts(0, 2).bytes());
  corpus.refused(
      "count_one_tensor_too_many",
      cut(GgufBuilder().tensor("t", {8}, TensorType::f32, 0).set_counts(2, 0).bytes(), 60));
}

/// Every 16th byte, and all around the borders of fields at the start.
void add_truncations(OutcomeCorpus& corpus) {
  for (const Format format : all_formats) {
    const Bytes whole = file_of_600_bytes(format);
    for (std::size_t size = 5; size < whole.size() - 8; size += size < 32 ? 3 : 24) {
      corpus.refused("cut_" + format_name(format) + "_" + std::to_string(size), cut(whole, size));
    }
  }
}

}  // namespace

void add_header_outcomes(OutcomeCorpus& corpus) {
  add_magics(corpus);
  add_versions(corpus);
  add_counts(corpus);
  add_truncations(corpus);
}

}  // namespace ingot::test
