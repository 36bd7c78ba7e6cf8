// SPDX-License-Identifier: MIT
#include "commands/hash/hash_report.hpp"

#include <algorithm>
#include <array>
#include <ingot/text.hpp>

#include "commands/json_members.hpp"

namespace ingot::cli {
namespace {

/// `print(name, digits)` for each digest that is there.
template <class Print>
void for_each_digest(const DigestSet& digests, const Print& print) {
  for (const DigestAlgorithmInfo& info : digest_algorithms) {
    if (!digests[info.algorithm].empty()) print(info.name, digests[info.algorithm]);
  }
}

void print_lines(Output& out, const DigestSet& digests, const std::string& name) {
  for_each_digest(digests, [&](std::string_view algorithm, const std::string& digits) {
    out.print("{:8}  {}  {}\n", algorithm, digits, name);
  });
}

void write_digests(JsonStream& json, const DigestSet& digests) {
  json.key("digests");
  if (digests == DigestSet()) return json.null();
  const auto object = json.object(Layout::line);
  for_each_digest(digests, [&](std::string_view algorithm, const std::string& digits) {
    json.member(algorithm, digits);
  });
}

/// A path as the list names it.
std::string name_in_list(const HashedModel& hashed, const std::string& path) {
  return path.starts_with(hashed.folder) ? path.substr(hashed.folder.size()) : path;
}

/// Writes all files of a set in order, missing ones included, as a reader of the manifest has to
/// know them.
void write_shards(JsonStream& json, const HashedModel& hashed) {
  const std::span<const ModelFile> files = hashed.model.files();
  json.objects("shards", hashed.model.shard_count(), [&](std::uint32_t index) {
    const auto file = std::find_if(files.begin(), files.end(),
                                   [&](const ModelFile& other) { return other.index == index; });
    const bool is_here = file != files.end() && !hashed.digests.files.empty();
    json.member("file", name_in_list(hashed, hashed.model.shard_path(index)));
    write_digests(json, is_here
                            ? hashed.digests.files[static_cast<std::size_t>(file - files.begin())]
                            : DigestSet());
  });
}

/// The name of a file of the model: that of the only one as the user gave it.
std::string name_of_file(const HashedModel& hashed, std::size_t i) {
  const std::span<const ModelFile> files = hashed.model.files();
  return name_in_list(hashed, files.size() == 1 ? hashed.file : files[i].path);
}

/// Whether a terminal gets the output, and would obey names.
bool is_shown(const Output& out, Console& console) {
  return &out == &console.out() && console.is_terminal();
}

bool is_set(const Model& model) { return !model.shard_path(0).empty(); }

/// Why a name cannot be on a line of its own.
bool breaks_lines(std::string_view name) { return name.find_first_of("\r\n") != name.npos; }

Failure fail_line(std::string_view name) {
  return fail(Errc::invalid_argument, std::string(name),
              "a line break in a name has no place in this form; use --as json");
}

}  // namespace

void print_hash_text(Output& out, const Console& console, const HashedModel& hashed) {
  if (hashed.digests.files.empty()) {
    out.print("{}\n", console.paint(Style::strong, escape(hashed.file)));
  }
  for (std::size_t i = 0; i < hashed.digests.files.size(); ++i) {
    print_lines(out, hashed.digests.files[i],
                console.paint(Style::strong, escape(name_of_file(hashed, i))));
  }
  if (!hashed.digests.uuid.empty()) out.print("uuid      {}\n", hashed.digests.uuid);
  for (std::size_t i = 0; i < hashed.digests.tensors.size() && out.is_open(); ++i) {
    print_lines(out, hashed.digests.tensors[i], "  " + escape(hashed.model.tensors()[i].name));
  }
}

void print_hash_json(JsonStream& json, const HashedModel& hashed) {
  const bool is_whole = !is_set(hashed.model) && !hashed.digests.files.empty();
  const auto object = json.object();
  json.member("file", name_in_list(hashed, hashed.file));
  write_digests(json, is_whole ? hashed.digests.files[0] : DigestSet());
  if (!hashed.digests.uuid.empty()) json.member("uuid", hashed.digests.uuid);
  if (is_set(hashed.model)) write_shards(json, hashed);
  json.objects("tensors", hashed.digests.tensors.size(), [&](std::size_t i) {
    json.member("name", hashed.model.tensors()[i].name);
    write_digests(json, hashed.digests.tensors[i]);
  });
}

Result<void> print_gguf_hash(Output& out, Console& console, const HashedModel& hashed) {
  if (breaks_lines(hashed.file)) return fail_line(hashed.file);
  // The order in which that program computes them.
  constexpr std::array order = {DigestAlgorithm::xxh64, DigestAlgorithm::sha1,
                                DigestAlgorithm::sha256, DigestAlgorithm::xxh3_128,
                                DigestAlgorithm::xet};
  // A program that reads a manifest compares names byte by byte, so they are escaped only on a
  // terminal, which would obey them.
  const bool is_escaped = is_shown(out, console);
  const auto print_line = [&](std::string_view what, const std::string& digits,
                              const std::string& target) {
    out.print("{:8}  {}  {}\n", what, digits, is_escaped ? escape(target) : target);
  };
  const auto print = [&](const DigestSet& digests, const std::string& target) {
    for (const DigestAlgorithm algorithm : order) {
      if (digests[algorithm].empty()) continue;
      print_line(info_of(algorithm).name, digests[algorithm], target);
    }
  };
  for (std::size_t i = 0; i < hashed.digests.tensors.size(); ++i) {
    const std::string_view name = hashed.model.tensors()[i].name;
    if (breaks_lines(name)) return fail_line(name);
    print(hashed.digests.tensors[i], hashed.file + ":" + std::string(name));
  }
  print(hashed.digests.weights, hashed.file);
  if (!hashed.digests.uuid.empty()) print_line("uuid", hashed.digests.uuid, hashed.file);
  return {};
}

void print_sha256sum(Output& out, Console& console, const HashedModel& hashed) {
  const bool is_escaped = is_shown(out, console);
  for (std::size_t i = 0; i < hashed.digests.files.size(); ++i) {
    const std::string path = name_of_file(hashed, i);
    // A line that begins with a backslash has its name escaped.
    std::string name;
    for (const char c : path) {
      const std::size_t special = std::string_view("\\\n\r").find(c);
      name += special == std::string_view::npos ? std::string(1, c)
                                                : std::string("\\") + "\\nr"[special];
    }
    out.print("{}{}  {}\n", name == path ? "" : "\\",
              hashed.digests.files[i][DigestAlgorithm::sha256], is_escaped ? escape(name) : name);
  }
}

namespace {

/// "2 of 22 digests differ, 1 has no file or tensor; 3 tensors are not in the manifest"
std::string verdict(const std::vector<DigestMismatch>& mismatches, std::uint64_t compared_count) {
  std::uint64_t differing = 0;
  std::uint64_t missing = 0;
  std::uint64_t unexpected = 0;
  for (const DigestMismatch& mismatch : mismatches) {
    std::uint64_t& count = !mismatch.algorithm.empty() ? differing
                           : mismatch.found.empty()    ? missing
                                                       : unexpected;
    ++count;
  }
  const std::uint64_t expected = compared_count + missing;
  const std::string digests = format_digits(expected) + (expected == 1 ? " digest" : " digests");
  std::string text;
  if (differing > 0) {
    text = fmt::format("{} of {} {}", differing, digests, differing == 1 ? "differs" : "differ");
  }
  if (missing > 0) {
    text += text.empty() ? fmt::format("{} of {}", missing, digests) : fmt::format(", {}", missing);
    text += missing == 1 ? " has no file or tensor" : " have no file or tensor";
  }
  if (text.empty()) text = digests + (expected == 1 ? " agrees" : " agree");
  if (unexpected == 0) return text;
  return text + fmt::format("; {} not in the manifest",
                            unexpected == 1 ? "1 file or tensor is"
                                            : fmt::format("{} files or tensors are", unexpected));
}

}  // namespace

void print_verdict_text(Output& out, const Console& console, const std::string& file,
                        const std::vector<DigestMismatch>& mismatches,
                        std::uint64_t compared_count) {
  for (const DigestMismatch& mismatch : mismatches) {
    const std::string what = std::string(name_of(mismatch.kind)) + " " + escape(mismatch.name);
    if (mismatch.algorithm.empty()) {
      out.print("{}: {} is {}\n", escape(file), what,
                mismatch.found.empty() ? "missing" : "not in the manifest");
    } else {
      out.print("{}: {} differs: {} is {}, the manifest says {}\n", escape(file), what,
                mismatch.algorithm, mismatch.found, mismatch.expected);
    }
  }
  const std::string result = verdict(mismatches, compared_count);
  out.print(
      "{}: {}: {}\n", escape(file),
      mismatches.empty() ? console.paint(Style::good, "ok") : console.paint(Style::bad, "FAILED"),
      result);
}

void print_verdict_json(JsonStream& json, const std::string& file,
                        const std::vector<DigestMismatch>& mismatches,
                        std::uint64_t compared_count) {
  const auto object = json.object();
  json.member("file", file);
  json.member("verified", mismatches.empty());
  json.member("compared", compared_count);
  json.objects("mismatches", mismatches,
               [&](const DigestMismatch& mismatch) { write_members(json, mismatch); });
}

}  // namespace ingot::cli
