// SPDX-License-Identifier: MIT
#include "commands/hash/verify_manifest.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <ingot/text.hpp>
#include <optional>

#include "cli/json_stream.hpp"
#include "commands/hash/hash_jobs.hpp"
#include "commands/hash/hash_report.hpp"
#include "commands/output_name.hpp"
#include "text/error_json.hpp"
#include "text/whole_file.hpp"

namespace ingot::cli {
namespace {

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

/// Whether a word is a digest, and not the name of a file that holds some.
bool is_digest(const std::string& word) {
  if (exists(word)) return false;
  const std::string digits = word.substr(word.find(':') + 1);
  return digits.size() >= 16 &&
         std::ranges::all_of(digits, [](unsigned char digit) { return std::isxdigit(digit) != 0; });
}

const ManifestEntry* find_entry(const std::vector<ManifestEntry>& entries, const std::string& file,
                                bool is_only_file) {
  for (const bool by_base_name : {false, true}) {
    for (const ManifestEntry& entry : entries) {
      if (is_about(entry, file, by_base_name)) return &entry;
    }
  }
  return is_only_file && entries.size() == 1 ? entries.data() : nullptr;
}

/// The path of an entry's file: its name as it is, or beside the manifest.
std::string locate(const std::string& name, const std::string& manifest) {
  if (std::filesystem::path(name).is_absolute() || exists(name)) return name;
  const std::size_t slash = manifest.rfind('/');
  std::string beside = slash == std::string::npos ? name : manifest.substr(0, slash + 1) + name;
  return exists(beside) ? beside : name;
}

struct Verification {
  std::vector<HashJob> jobs;
  std::vector<const ManifestEntry*> entries;  // one for each job
  ExitCode status = ExitCode::done;
};

void add_job(Verification& verification, const VerifyRequest& request, const std::string& file,
             const ManifestEntry& entry) {
  // An entry without shards is about the file itself.
  verification.jobs.push_back({file, !entry.shards.empty(), request_for(entry, request.algorithms),
                               std::nullopt, std::nullopt});
  verification.entries.push_back(&entry);
}

Verification plan_verification(const VerifyRequest& request, Console& console,
                               const std::vector<ManifestEntry>& entries) {
  Verification verification;
  if (request.files.empty()) {
    for (const ManifestEntry& entry : entries) {
      add_job(verification, request, locate(entry.file, request.manifest), entry);
    }
  }
  for (const std::string& file : request.files) {
    const ManifestEntry* entry = find_entry(entries, file, request.files.size() == 1);
    if (entry != nullptr) {
      add_job(verification, request, file, *entry);
      continue;
    }
    console.complain(file, "the manifest has no file of this name");
    verification.status = ExitCode::negative;
  }
  return verification;
}

/// Prints the result and returns whether everything matches.
bool report_verification(const Verification& verification, Console& console) {
  JsonStream json(console.out());
  const bool is_array = console.is_json() && verification.jobs.size() > 1;
  bool is_well = true;
  if (is_array) json.begin_array();
  for (std::size_t i = 0; i < verification.jobs.size(); ++i) {
    const HashJob& job = verification.jobs[i];
    if (!job.digests) {
      if (is_array && job.error) write_error_json(json, job.file, *job.error);
      continue;
    }
    std::uint64_t compared = 0;
    const std::vector<DigestMismatch> mismatches =
        find_mismatches(*verification.entries[i], *job.model, *job.digests, &compared);
    if (compared == 0 && mismatches.empty()) {
      console.complain(job.file, "the manifest has no digest of it that could be compared");
      is_well = false;
      continue;
    }
    is_well = is_well && mismatches.empty();
    if (console.is_json()) {
      print_verdict_json(json, job.file, mismatches, compared);
    } else if (!console.is_quiet() || !mismatches.empty()) {
      print_verdict_text(console.out(), console, job.file, mismatches, compared);
    }
  }
  if (is_array) json.end();
  return is_well;
}

}  // namespace

bool is_about(const ManifestEntry& entry, const std::string& file, bool by_base_name) {
  const auto is_same = [&](const std::string& name) {
    return by_base_name ? name_of_file(name) == name_of_file(file) : name == file;
  };
  if (is_same(entry.file)) return true;
  return std::any_of(entry.shards.begin(), entry.shards.end(),
                     [&](const NamedDigests& shard) { return is_same(shard.name); });
}

ExitCode verify_manifest(const VerifyRequest& request, Console& console) {
  INGOT_CLI_TRY(
      const std::string text,
      is_digest(request.manifest) ? request.manifest : read_whole(request.manifest, max_list_bytes),
      console, request.manifest);
  INGOT_CLI_TRY(const std::vector<ManifestEntry> entries, parse_digest_manifest(text), console,
                request.manifest);
  const bool has_nameless =
      std::ranges::any_of(entries, [](const ManifestEntry& entry) { return entry.file.empty(); });
  if (has_nameless && (request.files.size() != 1 || entries.size() != 1)) {
    return console.refuse_usage("hash: a digest alone is that of one file; name one FILE");
  }
  Verification verification = plan_verification(request, console, entries);
  const ExitCode status = hash_all(verification.jobs, console);
  if (status >= ExitCode::interrupted) return status;
  const bool is_well = report_verification(verification, console);
  return std::max({status, verification.status, is_well ? ExitCode::done : ExitCode::negative});
}

}  // namespace ingot::cli
