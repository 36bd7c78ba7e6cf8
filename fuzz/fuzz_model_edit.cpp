// SPDX-License-Identifier: MIT
// Property: an edit of a file that opens either fails and leaves every byte of it, or gives a file
// that opens and in which what was not asked for is as it was. A journal, whatever it says, lets a
// reader see the file as it is or as it was, and never makes it write.
//
// A hash of the file chooses the changes, so that any GGUF file is a seed.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/siphash.hpp"
#include "ingot/edit.hpp"
#include "ingot/lock_wait.hpp"
#include "ingot/model.hpp"
#include "io/edit_journal.hpp"
#include "support/model_checks.hpp"

namespace {

using namespace ingot;
using Bytes = std::vector<std::byte>;

/// Padding to a larger alignment would take more time than all the rest.
constexpr std::uint64_t max_alignment = 4096;

void require(bool condition) {
  if (!condition) std::abort();
}

/// A file in memory if there is such a place: every edit flushes.
const std::string& model_path() {
  static const std::string path = [] {
    const char* const folder = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    return std::string(folder) + "/fuzz_model_edit." + std::to_string(::getpid()) + ".gguf";
  }();
  return path;
}

void write_whole(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

Bytes read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// What a model holds, by name; tensors of unknown types have no size of their own.
struct Content {
  std::map<std::string, Bytes> keys;
  std::map<std::string, Bytes> tensors;

  explicit Content(const Model& model) {
    for (const KeyValue& entry : model.metadata()) {
      if (entry.key == padding_key) continue;
      const auto bytes = entry.value.bytes();
      keys.emplace(entry.key, Bytes(bytes.begin(), bytes.end()));
    }
    for (const TensorInfo& tensor : model.tensors()) {
      if (find_type(tensor.type) == nullptr) continue;
      Bytes data(static_cast<std::size_t>(tensor.size_bytes));
      require(model.read(tensor, 0, data).has_value());
      tensors.emplace(tensor.name, std::move(data));
    }
  }
  bool operator==(const Content&) const = default;
};

template <class Table>
void rename(Table& table, const std::string& from, const std::string& to) {
  auto node = table.extract(from);
  if (node.empty()) return;
  node.key() = to;
  table.insert(std::move(node));
}

/// Asks for changes, and makes them in the expected content too.
void change(ModelEdit& edit, Content& expected, std::span<const std::uint8_t> choice) {
  const auto keys = edit.model().metadata();
  const auto tensors = edit.model().tensors();
  if ((choice[0] & 1) != 0) {
    const std::string text(std::size_t{choice[1]} * 37, 'x');
    edit.set("fuzz.key", OwnedValue::string(text));
    const auto bytes = std::as_bytes(std::span(text));
    expected.keys["fuzz.key"] = Bytes(bytes.begin(), bytes.end());
  }
  if ((choice[0] & 2) != 0 && !keys.empty()) {
    const std::string key(keys[choice[1] % keys.size()].key);
    require(edit.remove_key(key).has_value());
    expected.keys.erase(key);
  }
  if ((choice[0] & 4) != 0 && !keys.empty()) {
    const std::string key(keys[choice[2] % keys.size()].key);
    if (edit.rename_key(key, "fuzz.renamed")) rename(expected.keys, key, "fuzz.renamed");
  }
  if ((choice[0] & 8) != 0 && !tensors.empty()) {
    const std::string name(tensors[choice[2] % tensors.size()].name);
    if (edit.rename_tensor(name, "fuzz.tensor")) rename(expected.tensors, name, "fuzz.tensor");
  }
  if ((choice[0] & 16) != 0 && !tensors.empty()) {
    const std::string name(tensors[choice[1] % tensors.size()].name);
    if (edit.remove_tensor(name)) expected.tensors.erase(name);
  }
  if ((choice[0] & 32) != 0) edit.reserve(std::uint64_t{choice[2]} * 16);
  expected.keys.erase(std::string(padding_key));
}

void try_edit(std::span<const std::uint8_t> choice, std::span<const std::byte> bytes,
              const OpenOptions& options) {
  Result<ModelEdit> edit = ModelEdit::open(model_path(), options);
  require(edit.has_value());
  Content expected(edit->model());
  change(*edit, expected, choice);
  const Result<EditPlan> plan = edit->plan();
  const Result<EditOutcome> outcome = edit->save();
  if (!outcome) {
    require(outcome.error().code != Errc::internal);
    require(std::ranges::equal(read_whole(model_path()), bytes));
    return;
  }
  require(plan.has_value() && plan->way == outcome->done.way);
  const Result<Model> model = Model::open(model_path(), options);
  require(model.has_value() && test::find_inconsistency(*model).empty());
  require(model->files()[0].file_bytes == plan->file_bytes);
  require(Content(*model) == expected);
}

/// A model is never seen otherwise than it is, whatever journal is beside it; one that is half
/// written is seen as it was.
void try_journal(std::span<const std::uint8_t> choice, std::span<const std::byte> bytes,
                 const OpenOptions& options) {
  const auto source = read_file(model_path());
  require(source.has_value());
  io::EditJournal journal;
  journal.phase = (choice[0] & 1) != 0 ? io::JournalPhase::inserted : io::JournalPhase::prepared;
  journal.inode = io::identify(model_path())->inode;
  journal.inserted_bytes = (choice[0] & 2) != 0 ? std::uint64_t{choice[1]} * 512 : 0;
  journal.file_bytes = bytes.size() - std::min<std::size_t>(bytes.size(), journal.inserted_bytes);
  journal.data_offset = std::min<std::uint64_t>(choice[2] * std::uint64_t{8}, journal.file_bytes);
  journal.patch_offset = std::min<std::uint64_t>(choice[3], journal.data_offset);
  journal.first_byte = bytes[0];
  journal.patch.assign(bytes.begin() + static_cast<std::ptrdiff_t>(journal.patch_offset),
                       bytes.begin() + static_cast<std::ptrdiff_t>(journal.data_offset));
  journal.data_hash = io::hash_data(**source, journal.data_offset).value_or(0);
  journal.hash_before = io::hash_header(**source, journal.data_offset).value_or(0);
  std::vector<std::byte> torn(bytes.begin(), bytes.end());
  const bool is_torn = journal.inserted_bytes == 0 && journal.data_offset != 0;
  if (is_torn) {
    torn[0] = io::torn_mark;
    for (std::uint64_t i = std::max<std::uint64_t>(journal.patch_offset, 1);
         i < journal.data_offset; i += 1 + choice[4]) {
      torn[static_cast<std::size_t>(i)] ^= std::byte{choice[5]};
    }
    write_whole(model_path(), torn);
    journal.inode = io::identify(model_path())->inode;
  }
  const std::string path = io::journal_path(model_path());
  write_whole(path, io::encode(journal));
  const Result<Model> model = Model::open(model_path(), options);
  require(model.has_value() && test::find_inconsistency(*model).empty());
  std::vector<std::byte> seen(bytes.size());
  require(model->files()[0].file_bytes == bytes.size());
  require(model->read_file_bytes(0, 0, seen).has_value());
  require(std::ranges::equal(seen, bytes));
  require(read_whole(model_path()) == torn);
  ::unlink(path.c_str());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  set_lock_wait({.limit = std::chrono::milliseconds(0), .on_wait = {}});  // nobody else is here
  require(lock_wait().limit.count() == 0);
  const auto bytes = std::as_bytes(std::span(data, size));
  const std::uint64_t hash =
      siphash_1_3({}, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const auto choice = std::bit_cast<std::array<std::uint8_t, 8>>(hash);
  static_cast<void>(io::decode_journal(bytes));
  const OpenOptions options{.is_lenient = (choice[0] & 64) != 0};
  const Result<Model> model = Model::open_memory(bytes, options);
  if (!model || model->files()[0].alignment > max_alignment) return 0;
  write_whole(model_path(), bytes);
  (choice[0] & 128) != 0 ? try_journal(choice, bytes, options) : try_edit(choice, bytes, options);
  ::unlink(model_path().c_str());
  return 0;
}
