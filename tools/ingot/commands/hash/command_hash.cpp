// SPDX-License-Identifier: MIT
// `ingot hash FILE...` -- digests of files and tensors, and whether they are as published.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ingot/digest.hpp>
#include <ingot/digest_manifest.hpp>
#include <ingot/output_file.hpp>
#include <ingot/text.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/console.hpp"
#include "cli/declaration.hpp"
#include "cli/json_stream.hpp"
#include "cli/model_files.hpp"
#include "commands/hash/hash_jobs.hpp"
#include "commands/hash/hash_report.hpp"
#include "commands/hash/verify_manifest.hpp"
#include "text/error_json.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot hash model.gguf\n"
    "  ingot hash model.gguf --algorithm xxh3-128\n"
    "  ingot hash *.gguf --json -o manifest.json\n"
    "  ingot hash --verify manifest.json\n"
    "  ingot hash downloaded.gguf --verify manifest.json\n"
    "  ingot hash model.gguf --as gguf-hash -a xxh64,sha1 > model.manifest\n"
    "  ingot hash *.gguf --as sha256sum -o SHA256SUMS\n"
    "\n"
    "The default is SHA-256 of the file, all its bytes, and of each tensor as it is\n"
    "stored. What --json prints is a manifest; --verify reads it, and also what\n"
    "llama-gguf-hash and sha256sum print. A model that was renamed is found by the\n"
    "name of its file or, if the manifest has only one, without it. gguf-hash lists,\n"
    "like the tool of that name, the tensors and all weights together, without\n"
    "metadata.\n"
    "Exit status 1: something differs from the manifest, or a shard is missing.";

enum class Form : std::uint8_t { automatic, text, json, gguf_hash, sha256sum };

struct Options {
  std::vector<std::string> files;
  std::vector<std::string> algorithm_lists;
  std::vector<DigestAlgorithm> algorithms;
  Form form = Form::automatic;
  std::string out;
  std::string manifest;
  bool is_forced = false;
  bool is_without_tensors = false;
  bool is_without_file = false;
  bool has_uuid = false;
};

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names;
  for (const DigestAlgorithmInfo& info : digest_algorithms) names.emplace_back(info.name);
  names.emplace_back("all");
  return names;
}

/// `sha256,xxh64`, `all`; returns the word that is no algorithm.
std::optional<std::string> read_algorithms(Options& options) {
  std::array<bool, digest_algorithms.size()> is_wanted{};
  for (const std::string& list : options.algorithm_lists) {
    for (const std::string& word : split_list(list)) {
      const DigestAlgorithmInfo* info = find_digest_algorithm(word);
      if (word == "all") {
        is_wanted.fill(true);
      } else if (info == nullptr) {
        return word;
      } else {
        is_wanted[static_cast<std::size_t>(info->algorithm)] = true;
      }
    }
  }
  for (const DigestAlgorithmInfo& info : digest_algorithms) {
    if (is_wanted[static_cast<std::size_t>(info.algorithm)]) {
      options.algorithms.push_back(info.algorithm);
    }
  }
  return std::nullopt;
}

DigestRequest request_of(const Options& options) {
  const bool is_gguf_hash = options.form == Form::gguf_hash;
  DigestRequest request{
      .has_files = !options.is_without_file && !is_gguf_hash,
      .has_tensors = !options.is_without_tensors && options.form != Form::sha256sum,
      .has_weights = is_gguf_hash && !options.is_without_file,
      .has_uuid = options.has_uuid};
  if (!options.algorithms.empty()) request.algorithms = options.algorithms;
  return request;
}

/// A job for each model; a set of which a glob named every shard is one. In the form of gguf-hash,
/// which knows no sets, each file is a model.
std::vector<HashJob> jobs_of(const Options& options) {
  std::vector<HashJob> jobs;
  const bool with_shards = options.form != Form::gguf_hash;
  for (const std::string& file : distinct_models(options.files, with_shards)) {
    jobs.push_back({file, with_shards, request_of(options), std::nullopt, std::nullopt});
  }
  return jobs;
}

Result<void> print_hashes(const Options& options, Console& console, Output& out,
                          const std::vector<HashJob>& jobs) {
  JsonStream json(out);
  const bool is_array = options.form == Form::json && jobs.size() > 1;
  if (is_array) json.begin_array();
  for (const HashJob& job : jobs) {
    if (!job.digests) {
      const bool is_told = options.form == Form::json && job.error;
      if (is_told) write_error_json(json, job.file, *job.error);
      continue;
    }
    const HashedModel hashed{job.file, *job.model, *job.digests};
    if (options.form == Form::json) {
      print_hash_json(json, hashed);
    } else if (options.form == Form::gguf_hash) {
      INGOT_TRY_VOID(print_gguf_hash(out, console, hashed));
    } else if (options.form == Form::sha256sum) {
      print_sha256sum(out, console, hashed);
    } else {
      print_hash_text(out, console, hashed);
    }
  }
  if (is_array) json.end();
  return {};
}

/// Whether all shards of all sets are there; names the sets whose are not.
bool are_complete(const std::vector<HashJob>& jobs, Console& console) {
  bool is_complete = true;
  for (const HashJob& job : jobs) {
    // A shard under another name is a file of its own.
    if (!job.digests || job.model->shard_path(0).empty()) continue;
    const std::size_t missing = job.model->shard_count() - job.model->files().size();
    if (missing == 0) continue;
    is_complete = false;
    console.complain(job.file, fmt::format("{} of {} shards are not there and have no digests",
                                           missing, job.model->shard_count()));
  }
  return is_complete;
}

/// Whether OUT is one of the files that are hashed, under whatever name.
bool is_input(const std::string& out, const std::vector<HashJob>& jobs) {
  const auto is_out = [&](const std::string& path) { return is_same_file(out, path); };
  return std::any_of(jobs.begin(), jobs.end(), [&](const HashJob& job) {
    if (is_out(job.file) || std::ranges::any_of(job.foreign_paths, is_out)) return true;
    return job.model && is_file_of(*job.model, out);
  });
}

Result<void> write_hashes(const Options& options, Console& console,
                          const std::vector<HashJob>& jobs, OutputFile& file) {
  // The shards of a set are known only now.
  if (is_input(options.out, jobs)) return fail(Errc::same_file, {});
  Result<void> written;
  Output out([&](std::string_view text) {
    written = file.write(std::as_bytes(std::span(text)));
    return written ? 0 : EIO;
  });
  INGOT_TRY_VOID(print_hashes(options, console, out, jobs));
  out.flush();
  INGOT_TRY_VOID(written);
  return file.commit();
}

ExitCode fail_output(const Options& options, Console& console, const Error& error) {
  if (error.code == Errc::same_file) {
    return console.refuse(options.out, "this is one of the files to hash; name another output");
  }
  return console.fail(options.out, error);
}

ExitCode run_hash(const Options& options, Console& console) {
  std::vector<HashJob> jobs = jobs_of(options);
  std::optional<OutputFile> file;
  if (!options.out.empty() && options.out != "-") {
    // Said before the work and not after it.
    if (is_input(options.out, jobs)) {
      return fail_output(options, console, {.code = Errc::same_file, .subject = {}, .detail = {}});
    }
    INGOT_CLI_TRY(file, OutputFile::create(options.out, options.is_forced), console, options.out);
  }
  ExitCode status = hash_all(jobs, console);
  if (status >= ExitCode::interrupted) return status;
  if (!are_complete(jobs, console)) status = std::max(status, ExitCode::negative);
  const bool has_result =
      std::any_of(jobs.begin(), jobs.end(), [](const HashJob& job) { return !!job.digests; });
  if (!has_result && options.form != Form::json) return status;
  if (!options.out.empty() && status != ExitCode::done) {
    console.complain(options.out, "it is not written: a list with holes would look complete");
    return status;
  }
  if (file) {
    const Result<void> written = write_hashes(options, console, jobs, *file);
    return written ? status : std::max(status, fail_output(options, console, written.error()));
  }
  const Result<void> printed = print_hashes(options, console, console.out(), jobs);
  return printed ? status : std::max(status, console.fail(options.files[0], printed.error()));
}

ExitCode run(Options& options, Console& console) {
  if (const std::optional<std::string> word = read_algorithms(options)) {
    return console.refuse_usage(fmt::format("hash: --algorithm must be one of {}, not \"{}\"",
                                            joined(algorithm_names(), ", "), escape(*word)));
  }
  const bool is_verification = !options.manifest.empty();
  if (options.files.empty() && !is_verification) {
    return console.refuse_usage(
        "hash: FILE is missing; the usage is: ingot hash [OPTIONS] FILE...");
  }
  if (is_verification) {
    if (!options.out.empty() || options.form != Form::automatic || options.has_uuid ||
        options.is_without_file || options.is_without_tensors) {
      return console.refuse_usage("hash: --verify goes with FILE, --algorithm and --json only");
    }
    return verify_manifest({options.files, options.algorithms, options.manifest}, console);
  }
  if (options.is_without_file && options.is_without_tensors && !options.has_uuid) {
    return console.refuse_usage("hash: --no-file and --no-tensors together leave nothing to do");
  }
  if (console.is_json() && options.form != Form::automatic && options.form != Form::json) {
    return console.refuse_usage("hash: --json and --as contradict each other");
  }
  if (options.form == Form::sha256sum &&
      (!options.algorithm_lists.empty() || options.has_uuid || options.is_without_file)) {
    return console.refuse_usage(
        "hash: --as sha256sum prints the SHA-256 of files and nothing else");
  }
  if (options.form == Form::automatic) {
    const bool is_manifest = console.is_json() || (!options.out.empty() && options.out != "-");
    options.form = is_manifest ? Form::json : Form::text;
  }
  return run_hash(options, console);
}

}  // namespace

void add_hash_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command =
      add_command(program, "hash", "Compute or verify digests of files and tensors", examples);
  add_argument(command, "FILE", options->files,
               "GGUF files; any shard names its set, - is standard input");
  note_words(*add_texts(command, "-a,--algorithm", options->algorithm_lists, "NAME",
                        "Which digests: " + joined(algorithm_names(), ", ") +
                            "; several with commas; default: sha256"),
             algorithm_names());
  add_choice(command, "--as", "FORM", options->form,
             {{"text", Form::text},
              {"json", Form::json},
              {"gguf-hash", Form::gguf_hash},
              {"sha256sum", Form::sha256sum}},
             "What to print, {}; default: text, or json with --output");
  add_text(command, "-o,--output", options->out, "OUT", "Write to a file instead of stdout");
  add_switch(command, "--force", options->is_forced, "Replace OUT if it exists");
  add_switch(command, "--no-tensors", options->is_without_tensors, "Only of each file");
  add_switch(command, "--no-file", options->is_without_file,
             "Only of each tensor: the fastest, on all cores");
  add_switch(command, "--uuid", options->has_uuid,
             "The UUID of the weights, as llama-gguf-hash computes it, too");
  add_text(
      command, "--verify", options->manifest, "MANIFEST",
      "Compare with digests instead of printing any: a manifest of ingot hash, llama-gguf-hash "
      "or sha256sum, a Git LFS pointer, or a digest itself, with or without sha256: before it");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
