// SPDX-License-Identifier: MIT
// Digests, differences, statistics.
#include <ingot/diff.hpp>
#include <ingot/digest_manifest.hpp>
#include <ingot/model_digests.hpp>
#include <ingot/tensor_profile.hpp>
#include <ingot/upload_plan.hpp>

#include "python_facts.hpp"

namespace ingot::python {
namespace {

py::dict digits_of(const DigestSet& digests) {
  py::dict digits;
  for (const DigestAlgorithmInfo& info : digest_algorithms) {
    if (!digests[info.algorithm].empty())
      digits[py::str(std::string(info.name))] = digests[info.algorithm];
  }
  return digits;
}

DigestRequest request_from(const std::vector<std::string>& algorithms, bool has_files,
                           bool has_tensors, bool has_weights, bool has_uuid, unsigned threads) {
  DigestRequest request;
  request.algorithms.clear();
  for (const std::string& name : algorithms) {
    const DigestAlgorithmInfo* info = find_digest_algorithm(name);
    if (info == nullptr) {
      std::string known;
      for (const DigestAlgorithmInfo& row : digest_algorithms) {
        known += (known.empty() ? "" : ", ") + std::string(row.name);
      }
      throw Failed{Error{Errc::invalid_argument, Error::no_offset, name,
                         "no such algorithm; there are " + known}};
    }
    request.algorithms.push_back(info->algorithm);
  }
  request.has_files = has_files;
  request.has_tensors = has_tensors;
  request.has_weights = has_weights;
  request.has_uuid = has_uuid;
  request.thread_count = threads;
  return request;
}

py::dict hash(const OpenModel& self, const std::vector<std::string>& algorithms, bool has_files,
              bool has_tensors, bool has_weights, bool has_uuid, unsigned threads,
              const py::object& progress) {
  const DigestRequest request =
      request_from(algorithms, has_files, has_tensors, has_weights, has_uuid, threads);
  const ModelDigests digests = run(progress, [&](const Report& report) {
    return compute_digests(self.model(), request, report);
  });
  py::dict facts;
  facts["files"] = list_of(digests.files, &digits_of);
  py::list tensors;
  for (std::size_t i = 0; i < digests.tensors.size(); ++i) {
    tensors.append(digits_of(digests.tensors[i]));
  }
  facts["tensors"] = std::move(tensors);
  facts["weights"] = digits_of(digests.weights);
  facts["uuid"] = digests.uuid;
  return facts;
}

/// How many digests were compared with the manifest's entry at `position`, and the mismatches.
py::tuple verify(const OpenModel& self, const py::str& manifest, std::size_t position,
                 unsigned threads, const py::object& progress) {
  const std::vector<ManifestEntry> entries = take(parse_digest_manifest(to_bytes(manifest)));
  if (position >= entries.size()) throw py::index_error("the manifest has no such entry");
  DigestRequest request = request_for(entries[position]);
  request.thread_count = threads;
  const ModelDigests digests = run(progress, [&](const Report& report) {
    return compute_digests(self.model(), request, report);
  });
  std::uint64_t compared = 0;
  const auto mismatches = find_mismatches(entries[position], self.model(), digests, &compared);
  return py::make_tuple(compared, fact_of(mismatches));
}

py::dict plan_upload(const std::vector<std::string>& files, const std::vector<std::string>& against,
                     unsigned threads, const py::object& progress) {
  const UploadPlan plan = run(progress, [&](const Report& report) {
    return ingot::plan_upload(files,
                              {.against = against, .thread_count = threads, .progress = report});
  });
  return facts_of(plan);
}

py::dict diff(const OpenModel& a, const OpenModel& b, bool with_data, unsigned threads,
              const py::object& progress) {
  DiffOptions options;
  options.with_data = with_data;
  options.thread_count = threads;
  const ModelDifference difference = run(progress, [&](const Report& report) {
    options.progress = report;
    return find_differences(a.model(), b.model(), options);
  });
  py::dict facts = facts_of(difference);
  facts["keys"] = list_of(difference.keys, &KeyDifference::key);
  facts["tensors"] = list_of(difference.tensors, &TensorDifference::name);
  facts["data"] = list_of(difference.data, [](const DataDifference& tensor) {
    return py::make_tuple(to_str(tensor.name), tensor.first_difference);
  });
  facts["compared_tensors"] = difference.compared_tensors;
  return facts;
}

/// The distances of all tensors of the same name and shape.
py::list distances(const OpenModel& a, const OpenModel& b, unsigned threads,
                   const py::object& progress) {
  const std::vector<TensorPair> pairs = find_pairs(a.model(), b.model());
  const std::vector<WeightDistance> found = run(progress, [&](const Report& report) {
    return measure_distances(a.model(), b.model(), pairs, threads, report);
  });
  py::list rows;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    py::dict row = facts_of(found[i]);
    row["name"] = to_str(pairs[i].a->name);
    rows.append(row);
  }
  return rows;
}

py::dict profile_facts(const TensorProfile& profile) {
  py::dict facts = facts_of(profile.statistics);
  facts["histogram_low"] = profile.histogram.low;
  facts["histogram_high"] = profile.histogram.high;
  facts["histogram"] = profile.histogram.counts;
  facts["error"] = fact_of(profile.error);
  return facts;
}

py::list stats(const OpenModel& self, const std::vector<std::size_t>& indexes, std::size_t bins,
               const std::shared_ptr<OpenModel>& reference, unsigned threads,
               const py::object& progress) {
  std::vector<const TensorInfo*> tensors;
  for (const std::size_t index : indexes) tensors.push_back(&self.tensor(index));
  ProfileOptions options;
  options.bin_count = bins;
  options.reference = reference ? &reference->model() : nullptr;
  options.thread_count = threads;
  const std::vector<TensorProfile> profiles = run(progress, [&](const Report& report) {
    return profile_tensors(self.model(), tensors, options, report);
  });
  return list_of(profiles, &profile_facts);
}

}  // namespace

void add_compare(py::module_& module) {
  module.def("hash", &hash);
  module.def("verify", &verify);
  module.def("plan_upload", &plan_upload);
  module.def("diff", &diff);
  module.def("distances", &distances);
  module.def("stats", &stats);
}

}  // namespace ingot::python
