// SPDX-License-Identifier: MIT
#include "commands/hash/hash_jobs.hpp"

#include <algorithm>
#include <ingot/digest.hpp>
#include <ingot/parallel.hpp>
#include <ingot/source.hpp>
#include <memory>
#include <mutex>
#include <vector>

#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "text/model_facts.hpp"

namespace ingot::cli {
namespace {

/// Digests that a job makes at the same time: as many threads can help it.
std::size_t lanes_of(const HashJob& job) {
  const DigestRequest& request = job.request;
  const bool has_whole = request.has_files || request.has_weights || request.has_uuid;
  if (!has_whole) return job.model->tensors().size() * request.algorithms.size();
  const std::size_t kinds = static_cast<std::size_t>(request.has_files) +
                            static_cast<std::size_t>(request.has_tensors) +
                            static_cast<std::size_t>(request.has_weights);
  return kinds * request.algorithms.size() * job.model->files().size() + (request.has_uuid ? 1 : 0);
}

/// A model of another format looks like a GGUF file that does not exist. If it has one file, the
/// digest of that file is taken instead. If it has several, only its tensors have digests.
Result<void> hash_foreign_files(const HashJob& job, ModelDigests& digests) {
  if (digests.files.empty()) return {};
  digests.files.clear();
  if (job.foreign_paths.size() != 1) return {};
  INGOT_TRY(const std::unique_ptr<Source> file, read_file(job.foreign_paths[0]));
  std::vector<Digest> makers;
  for (const DigestAlgorithm algorithm : job.request.algorithms) makers.emplace_back(algorithm);
  std::vector<std::byte> piece(std::size_t{1} << 20);
  for (std::uint64_t at = 0; at < file->size_bytes(); at += piece.size()) {
    piece.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), file->size_bytes() - at)));
    INGOT_TRY_VOID(file->read(at, piece));
    for (Digest& maker : makers) maker.update(piece);
    if (stop_signal() != 0) return fail(Errc::interrupted, job.file);
  }
  DigestSet& set = digests.files.emplace_back();
  for (Digest& maker : makers) set[maker.algorithm()] = maker.finish();
  return {};
}

/// The jobs whose models are open, and how far each is.
class Batch {
 public:
  Batch(std::vector<HashJob*> jobs, Console& console)
      : jobs_(std::move(jobs)),
        done_bytes_(jobs_.size()),
        failures_(jobs_.size()),
        progress_(console, jobs_.size() == 1 ? jobs_[0]->file : "hash", all_bytes(jobs_)) {}

  void run(unsigned thread_count) {
    std::size_t least_lanes = thread_count;
    for (const HashJob* job : jobs_) least_lanes = std::min(least_lanes, lanes_of(*job));
    const auto jobs_at_once = static_cast<unsigned>(std::clamp<std::size_t>(
        thread_count / std::max<std::size_t>(1, least_lanes), 1, jobs_.size()));
    const unsigned threads_per_job = std::max(1u, thread_count / jobs_at_once);
    // Failures are kept, each with its job, so that one does not stop the others.
    static_cast<void>(spread(jobs_.size(), 1, jobs_at_once,
                             [&](std::uint64_t first, std::uint64_t) -> Result<void> {
                               run_one(first, threads_per_job);
                               return {};
                             }));
  }

  [[nodiscard]] const std::optional<Error>& failure(std::size_t job) const {
    return failures_[job];
  }

 private:
  static std::uint64_t all_bytes(const std::vector<HashJob*>& jobs) {
    std::uint64_t sum = 0;
    for (const HashJob* job : jobs) sum += total_file_bytes(*job->model);
    return sum;
  }

  void run_one(std::size_t position, unsigned thread_count) {
    HashJob& job = *jobs_[position];
    DigestRequest request = job.request;
    request.thread_count = thread_count;
    Result<ModelDigests> digests =
        compute_digests(*job.model, request, [&](std::uint64_t done_bytes) {
          const std::lock_guard lock(mutex_);
          all_done_bytes_ += done_bytes - done_bytes_[position];
          done_bytes_[position] = done_bytes;
          progress_.update(all_done_bytes_);
          return stop_signal() == 0;
        });
    if (digests && !job.foreign_paths.empty()) {
      const Result<void> hashed = hash_foreign_files(job, *digests);
      if (!hashed) digests = fail(hashed.error());
    }
    if (digests) {
      job.digests = *std::move(digests);
    } else {
      failures_[position] = std::move(digests).error();
    }
  }

  std::vector<HashJob*> jobs_;
  std::mutex mutex_;
  std::vector<std::uint64_t> done_bytes_;
  std::uint64_t all_done_bytes_ = 0;
  std::vector<std::optional<Error>> failures_;
  Progress progress_;
};

}  // namespace

ExitCode hash_all(std::span<HashJob> jobs, Console& console) {
  ExitCode status = ExitCode::done;
  const auto note_failure = [&](HashJob& job, const Error& error) {
    job.error = error;
    status = std::max(status, console.fail(job.file, error));
  };
  std::vector<HashJob*> open_jobs;
  for (HashJob& job : jobs) {
    Result<Model> model = job.with_shards ? console.open_model(job.file)
                                          : console.open_stored(job.file, FileAccess::map, false);
    if (!model) {
      note_failure(job, model.error());
      continue;
    }
    if (console.imported() != nullptr) {
      console.remark(job.file,
                     "note: the digests are of the GGUF file that `ingot convert` makes of "
                     "the folder, not of its files");
    }
    if (const auto ready = console.before_reading_files(job.file, *model); !ready) {
      note_failure(job, ready.error());
      continue;
    }
    job.model = *std::move(model);
    if (const ForeignFile* foreign = console.foreign()) job.foreign_paths = foreign->paths;
    open_jobs.push_back(&job);
  }
  if (open_jobs.empty()) return status;
  std::vector<std::optional<Error>> failures;
  {
    const OrderlyStop orderly_stop;
    Batch batch(open_jobs, console);
    batch.run(console.threads());
    for (std::size_t i = 0; i < open_jobs.size(); ++i) failures.push_back(batch.failure(i));
  }
  for (std::size_t i = 0; i < open_jobs.size(); ++i) {
    if (failures[i]) note_failure(*open_jobs[i], *failures[i]);
    // Every job stops at the signal.
    if (failures[i] && failures[i]->code == Errc::interrupted) break;
  }
  return status;
}

}  // namespace ingot::cli
