// SPDX-License-Identifier: MIT
// `make_corpus FOLDER`: writes the corpus, the same bytes at every run.
// `make_corpus --check FOLDER`: fails if the files there are not exactly those.
//
// valid/<what>.gguf opens; invalid/<errc>__<what>.gguf is refused with that error, and if the error
// is one that opening leniently accepts, it opens then.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "support/gguf_builder.hpp"
#include "support/sample_files.hpp"

namespace ingot::test {
namespace {

using Corpus = std::map<std::string, Bytes>;

/// One f32 tensor of 8 elements at the offset 0, after whatever keys `file` has.
Bytes with_tensor(GgufBuilder& file) {
  return file.tensor("t", {8}, TensorType::f32, 0).pad_to(32).data(32).bytes();
}
Bytes with_tensor(GgufBuilder&& file) { return with_tensor(file); }

/// A file whose only key is an array in `depth` levels.
Bytes nested(std::uint32_t depth) {
  GgufBuilder file;
  file.array_key("deep", depth == 1 ? ValueType::uint8 : ValueType::array, 1);
  for (std::uint32_t level = 2; level < depth; ++level) file.array(ValueType::array, 1);
  if (depth > 1) file.array(ValueType::uint8, 1);
  return file.u8(7).bytes();
}

/// A file of one tensor with its data, named and shaped as given.
Bytes tensor_file(std::string_view name, const std::vector<std::uint64_t>& shape, TensorType type,
                  std::uint64_t data_offset = 0, std::size_t data_bytes = 32) {
  GgufBuilder file;
  return file.tensor(name, shape, type, data_offset).pad_to(32).data(data_bytes).bytes();
}

Bytes two_tensors(std::uint64_t first_offset, std::uint64_t second_offset) {
  GgufBuilder file;
  file.tensor("a", {16}, TensorType::f32, first_offset);
  file.tensor("b", {16}, TensorType::f32, second_offset);
  return file.pad_to(32).data(160).bytes();
}

Bytes aligned(std::uint32_t alignment, std::size_t data_bytes = 32) {
  GgufBuilder file;
  file.pair("general.alignment", alignment).tensor("t", {8}, TensorType::f32, 0);
  return file.pad_to(alignment == 0 ? 1 : alignment).data(data_bytes).bytes();
}

Bytes prefix_of(const Bytes& bytes, std::size_t size) {
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)};
}

void add_valid(Corpus& corpus) {
  const auto add = [&](const std::string& name, const Bytes& bytes) {
    corpus["valid/" + name + ".gguf"] = bytes;
  };
  add("everything_v1", file_of_everything(v1));
  add("everything_v2", file_of_everything(v2));
  add("everything_v3", file_of_everything(v3));
  add("everything_v3_big", file_of_everything(v3_big));
  add("600_bytes_v1", file_of_600_bytes(v1));
  add("600_bytes_v3", file_of_600_bytes(v3));
  add("600_bytes_v3_big", file_of_600_bytes(v3_big));
  add("old_magic", with_tensor(GgufBuilder(v3_big, "FUGG").pair("key", "value")));
  add("nothing", GgufBuilder().bytes());
  add("nothing_v1", GgufBuilder(v1).bytes());
  add("no_keys", with_tensor(GgufBuilder()));
  add("no_tensors", GgufBuilder().pair("general.architecture", "llama").bytes());
  add("no_tensors_tail", GgufBuilder().pair("k", true).raw("polyglot").bytes());
  add("trailing_nul_v1", GgufBuilder(v1).pair(std::string_view("key\0", 4), "value").bytes());
  add("trailing_nul_v2", GgufBuilder(v2)
                             .pair(std::string_view("key\0", 4), std::string_view("value\0", 6))
                             .array_pair<std::string_view>("list", {{"a\0", 2}, {"\0", 1}, ""})
                             .bytes());
  add("key_odd", GgufBuilder().pair("Not Snake-Case \xC3\xA9", true).bytes());
  add("nested_64", nested(64));
  add("alignment_8", aligned(8));
  add("alignment_24_not_a_power_of_two", aligned(24));
  add("alignment_beyond_end", GgufBuilder()
                                  .pair("general.alignment", std::uint32_t{1} << 31)
                                  .tensor("none", {0}, TensorType::f32, 0)
                                  .bytes());
  add("name_64", tensor_file(std::string(64, 'n'), {8}, TensorType::f32));
  add("name_empty", tensor_file("", {8}, TensorType::f32));
  add("dimensions_4", tensor_file("t", {2, 2, 2, 1}, TensorType::f32));
  add("gap", two_tensors(0, 96));
  add("other_order", two_tensors(64, 0));
  add("no_final_padding", tensor_file("t", {3}, TensorType::i8, 0, 3));
  add("zero_sized_inside_another", GgufBuilder()
                                       .tensor("a", {16}, TensorType::f32, 0)
                                       .tensor("none", {0, 1 << 20}, TensorType::f32, 32)
                                       .pad_to(32)
                                       .data(64)
                                       .bytes());
}

void add_invalid_structure(Corpus& corpus) {
  const auto add = [&](const std::string& name, const Bytes& bytes) {
    corpus["invalid/" + name + ".gguf"] = bytes;
  };
  const Bytes whole = with_tensor(GgufBuilder().pair("key", "value"));
  add("truncated__empty_file", {});
  add("truncated__in_magic", prefix_of(whole, 3));
  add("truncated__in_version", prefix_of(whole, 7));
  add("truncated__in_counts", prefix_of(whole, 23));
  // Bytes that no entry has to have: the count alone does not tell that they are missing.
  add("truncated__in_value",
      GgufBuilder().key("key", ValueType::string).count(9).raw("text").bytes());
  add("truncated__in_array",
      GgufBuilder().array_key("a", ValueType::string, 1).count(1u << 31).raw("x").bytes());
  add("not_gguf__lower_case", GgufBuilder(v3, "gguf").bytes());
  add("not_gguf__html", GgufBuilder(v3, "<!DOCTYPE html>").bytes());
  add("unsupported_version__0", GgufBuilder({0, Endian::little}).bytes());
  add("unsupported_version__4", GgufBuilder({4, Endian::little}).bytes());
  add("unsupported_version__2_big", GgufBuilder({2, Endian::big}).bytes());
  add("unsupported_version__old_magic_little", GgufBuilder(v3, "FUGG").bytes());
  add("count_exceeds_file__tensors", GgufBuilder().set_counts(1, 0).data(23).bytes());
  add("count_exceeds_file__keys", GgufBuilder().set_counts(0, 1).data(13).bytes());
  add("count_exceeds_file__array",
      GgufBuilder().array_key("a", ValueType::uint64, std::uint64_t{1} << 61).u64(1).bytes());
  add("limit_exceeded__name_of_4_gib",
      GgufBuilder().set_counts(1, 0).count(std::uint64_t{1} << 32).data(32).bytes());
}

void add_invalid_keys(Corpus& corpus) {
  const auto add = [&](const std::string& name, const GgufBuilder& file) {
    corpus["invalid/" + name + ".gguf"] = file.bytes();
  };
  add("key_empty__v3", GgufBuilder().pair("", std::uint16_t{1}));
  add("key_empty__only_a_nul_v2", GgufBuilder(v2).pair(std::string_view("\0", 1), true));
  add("key_too_long__65536", GgufBuilder().pair("k", true).set_counts(0, 2).count(65536).data(64));
  add("key_invalid__nul", GgufBuilder().pair(std::string_view("a\0b", 3), true));
  add("key_invalid__trailing_nul_v3", GgufBuilder().pair(std::string_view("a\0", 2), true));
  add("key_invalid__not_utf8", GgufBuilder().pair("\xC3(", true));
  add("key_duplicate__same_value", GgufBuilder().pair("k", true).pair("k", true));
  add("key_duplicate__by_a_stripped_nul",
      GgufBuilder(v2).pair("k", true).pair(std::string_view("k\0", 2), true));
  add("value_type_unknown__13", GgufBuilder().key("k", static_cast<ValueType>(13)).data(8));
  add("value_type_unknown__element",
      GgufBuilder().array_key("k", static_cast<ValueType>(255), 1).data(8));
  corpus["invalid/nesting_too_deep__65.gguf"] = nested(65);
  add("bool_invalid__2", GgufBuilder().key("k", ValueType::boolean).u8(2));
  add("bool_invalid__element",
      GgufBuilder().array_key("k", ValueType::boolean, 3).u8(1).u8(255).u8(0));
  add("alignment_wrong_type__u64", GgufBuilder().pair("general.alignment", std::uint64_t{32}));
  add("alignment_wrong_type__string", GgufBuilder().pair("general.alignment", "32"));
  corpus["invalid/alignment_invalid__0.gguf"] = aligned(0);
  corpus["invalid/alignment_invalid__12.gguf"] = aligned(12);
  corpus["invalid/alignment_too_small__1.gguf"] = aligned(1);
  corpus["invalid/alignment_too_small__4.gguf"] = aligned(4);
}

void add_invalid_tensors(Corpus& corpus) {
  const auto add = [&](const std::string& name, const Bytes& bytes) {
    corpus["invalid/" + name + ".gguf"] = bytes;
  };
  const auto unknown = [](std::uint32_t id) { return static_cast<TensorType>(id); };
  constexpr std::uint64_t half = std::uint64_t{1} << 32;
  add("tensor_name_too_long__65", tensor_file(std::string(65, 'n'), {8}, TensorType::f32));
  add("tensor_name_invalid__nul", tensor_file({"a\0b", 3}, {8}, TensorType::f32));
  add("tensor_name_invalid__not_utf8", tensor_file("\xFF", {8}, TensorType::f32));
  add("tensor_duplicate__other_data", GgufBuilder()
                                          .tensor("t", {8}, TensorType::f32, 0)
                                          .tensor("t", {8}, TensorType::f32, 32)
                                          .pad_to(32)
                                          .data(64)
                                          .bytes());
  add("too_many_dimensions__5", tensor_file("t", {1, 1, 1, 1, 8}, TensorType::f32));
  add("too_many_dimensions__8", tensor_file("t", {1, 1, 1, 1, 1, 1, 1, 8}, TensorType::f32));
  add("dimension_count_invalid__9",
      tensor_file("t", std::vector<std::uint64_t>(9, 1), TensorType::f32));
  add("tensor_type_removed__4", tensor_file("t", {32}, unknown(4)));
  add("tensor_type_removed__38", tensor_file("t", {32}, unknown(38)));
  add("tensor_type_unknown__43", tensor_file("t", {32}, unknown(43)));
  add("tensor_type_unknown__max", tensor_file("t", {32}, unknown(0xFFFFFFFF)));
  add("row_not_whole_blocks__31_of_q4_0", tensor_file("t", {31}, TensorType::q4_0));
  add("row_not_whole_blocks__no_dimension", tensor_file("t", {}, TensorType::q4_k));
  add("size_overflow__elements_wrap_to_0", tensor_file("t", {half, half}, TensorType::i8));
  add("size_overflow__bytes", tensor_file("t", {half / 2, half / 2, 2}, TensorType::f32));
  add("size_overflow__hidden_by_zero", tensor_file("t", {half, half, 0}, TensorType::i8));
  add("offset_unaligned__16", tensor_file("t", {4}, TensorType::f32, 16));
  add("tensor_outside_file__one_byte", tensor_file("t", {33}, TensorType::i8));
  add("tensor_outside_file__offset_wraps",
      tensor_file("t", {8}, TensorType::f32, ~std::uint64_t{0} - 31));
  add("tensor_outside_file__zero_sized_beyond_end", tensor_file("t", {0}, TensorType::f32, 64));
  add("tensor_overlap__same_offset", two_tensors(0, 0));
  add("tensor_overlap__partly", two_tensors(32, 0));
}

Corpus make_corpus() {
  Corpus corpus;
  add_valid(corpus);
  add_invalid_structure(corpus);
  add_invalid_keys(corpus);
  add_invalid_tensors(corpus);
  return corpus;
}

namespace fs = std::filesystem;

std::string as_text(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool check(const Corpus& corpus, const fs::path& folder) {
  bool is_same = true;
  const auto complain = [&](const std::string& name, const char* what) {
    std::fprintf(stderr, "%s %s; run make_corpus %s\n", name.c_str(), what, folder.c_str());
    is_same = false;
  };
  for (const auto& [name, bytes] : corpus) {
    std::ifstream file(folder / name, std::ios::binary);
    const std::string found((std::istreambuf_iterator<char>(file)), {});
    if (!file.is_open() || found != as_text(bytes)) complain(name, "is missing or differs");
  }
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder);
    if (entry.path().extension() == ".gguf" && !corpus.contains(name))
      complain(name, "is not made");
  }
  return is_same;
}

bool write(const Corpus& corpus, const fs::path& folder) {
  for (const auto& [name, bytes] : corpus) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream file(folder / name, std::ios::binary);
    if (!(file << as_text(bytes)).flush()) return false;
  }
  return true;
}

}  // namespace
}  // namespace ingot::test

int main(int argc, char** argv) {
  const ingot::test::Corpus corpus = ingot::test::make_corpus();
  if (argc == 3 && std::string(argv[1]) == "--check") {
    return ingot::test::check(corpus, argv[2]) ? 0 : 1;
  }
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_corpus [--check] FOLDER\n");
    return 2;
  }
  return ingot::test::write(corpus, argv[1]) ? 0 : 1;
}
