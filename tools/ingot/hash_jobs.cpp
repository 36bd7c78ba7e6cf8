// SPDX-License-Identifier: MIT
#include "hash_jobs.hpp"

#include <algorithm>
#include <ingot/parallel.hpp>
#include <mutex>
#include <vector>

#include "interrupt.hpp"
#include "progress.hpp"

namespace ingot::cli {
namespace {

std::uint64_t bytes_of(const Model& model) {
  std::uint64_t sum = 0;
  for (const ModelFile& file : model.files()) sum += file.file_bytes;
  return sum;
}

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
    for (const HashJob* job : jobs) sum += bytes_of(*job->model);
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
  std::vector<HashJob*> open_jobs;
  for (HashJob& job : jobs) {
    Result<Model> model = console.open_model(job.file, FileAccess::map, job.with_shards);
    if (!model) {
      status = std::max(status, console.fail(job.file, model.error()));
      continue;
    }
    job.model = *std::move(model);
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
    if (failures[i]) status = std::max(status, console.fail(open_jobs[i]->file, *failures[i]));
    // Every job stops at the signal.
    if (failures[i] && failures[i]->code == Errc::interrupted) break;
  }
  return status;
}

}  // namespace ingot::cli
