// SPDX-License-Identifier: MIT
// Digests, differences, statistics.
#include <ingot/diff.hpp>
#include <ingot/digest_manifest.hpp>
#include <ingot/model_digests.hpp>
#include <ingot/tensor_profile.hpp>

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

py::list digit_list(const std::vector<DigestSet>& sets) {
  py::list list;
  for (const DigestSet& set : sets) list.append(digits_of(set));
  return list;
}

DigestRequest request_from(const std::vector<std::string>& algorithms, bool has_files,
                           bool has_tensors, bool has_weights, bool has_uuid, unsigned threads) {
  DigestRequest request;
  request.algorithms.clear();
  for (const std::string& name : algorithms) {
    const DigestAlgorithmInfo* info = find_digest_algorithm(name);
    if (info == nullptr) {
      throw Failed{Error{Errc::invalid_argument, Error::no_offset, name, "no such algorithm"}};
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
  facts["files"] = digit_list(digests.files);
  facts["tensors"] = digit_list(digests.tensors);
  facts["weights"] = digits_of(digests.weights);
  facts["uuid"] = digests.uuid;
  return facts;
}

/// The mismatches with the manifest's entry at `position`: kind, name, algorithm, expected, found.
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
  py::list rows;
  for (const DigestMismatch& mismatch :
       find_mismatches(entries[position], self.model(), digests, &compared)) {
    rows.append(py::make_tuple(std::string(name_of(mismatch.kind)), to_str(mismatch.name),
                               mismatch.algorithm, mismatch.expected, mismatch.found));
  }
  return py::make_tuple(compared, rows);
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
  py::list keys;
  for (const KeyDifference& key : difference.keys) keys.append(to_str(key.key));
  py::list tensors;
  for (const TensorDifference& tensor : difference.tensors) tensors.append(to_str(tensor.name));
  py::list data;
  for (const DataDifference& tensor : difference.data) {
    data.append(py::make_tuple(to_str(tensor.name), tensor.first_difference));
  }
  py::dict facts;
  facts["keys"] = keys;
  facts["tensors"] = tensors;
  facts["data"] = data;
  facts["compared_tensors"] = difference.compared_tensors;
  facts["is_same"] = difference.is_same();
  return facts;
}

/// The rows of all tensors of the same name and shape: name, count, rmse, sqnr_db, largest, cosine,
/// differing.
py::list distances(const OpenModel& a, const OpenModel& b, unsigned threads,
                   const py::object& progress) {
  const std::vector<TensorPair> pairs = find_pairs(a.model(), b.model());
  const std::vector<WeightDistance> found = run(progress, [&](const Report& report) {
    return measure_distances(a.model(), b.model(), pairs, threads, report);
  });
  py::list rows;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    rows.append(py::make_tuple(to_str(pairs[i].a->name), found[i].error.count,
                               found[i].error.rmse(), found[i].error.sqnr_db(),
                               found[i].error.largest, found[i].cosine(), found[i].differing));
  }
  return rows;
}

py::dict profile_facts(const TensorProfile& profile) {
  py::dict facts = facts_of(profile.statistics);
  facts["finite"] = profile.statistics.count;
  facts["histogram_low"] = profile.histogram.low;
  facts["histogram_high"] = profile.histogram.high;
  facts["histogram"] = profile.histogram.counts;
  facts["error"] = py::none();
  if (profile.error) {
    facts["error"] = py::make_tuple(profile.error->rmse(), profile.error->sqnr_db());
  }
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
  py::list rows;
  for (const TensorProfile& profile : profiles) rows.append(profile_facts(profile));
  return rows;
}

}  // namespace

void add_compare(py::module_& module) {
  module.def("hash", &hash);
  module.def("verify", &verify);
  module.def("diff", &diff);
  module.def("distances", &distances);
  module.def("stats", &stats);
}

}  // namespace ingot::python
