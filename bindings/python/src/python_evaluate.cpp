// SPDX-License-Identifier: MIT
// Models at work on texts.
#include <atomic>
#include <deque>
#include <exception>
#include <ingot/embeddings.hpp>
#include <ingot/evaluate.hpp>
#include <mutex>
#include <set>

#include "python_facts.hpp"
#include "python_options.hpp"

namespace ingot::python {
namespace {

using Models = std::vector<std::shared_ptr<OpenModel>>;
using Ids = py::array_t<TokenId, py::array::c_style | py::array::forcecast>;

py::ssize_t size_of(std::size_t count) { return static_cast<py::ssize_t>(count); }

/// Chunks as an array of ids of shape (chunks, tokens).
TextChunks chunks_from(const Ids& ids) {
  if (ids.ndim() != 2) throw py::value_error("the ids have the shape (chunks, tokens)");
  TextChunks chunks;
  chunks.ids.assign(ids.data(), ids.data() + ids.size());
  chunks.chunk_tokens = static_cast<std::size_t>(ids.shape(1));
  return chunks;
}

Ids cut_text(const OpenModel& model, const py::object& text, std::size_t chunk_tokens,
             std::size_t max_chunks) {
  const std::string bytes = text_from(text);
  TextChunks chunks = run(py::none(), [&](const Report&) {
    return chunks_of(model.model(), bytes, chunk_tokens, max_chunks);
  });
  return array_of(std::move(chunks.ids),
                  {size_of(chunks.ids.size() / chunks.chunk_tokens), size_of(chunks.chunk_tokens)});
}

/// Runs `work`, which starts models with `options`; `progress` gets the layers done and all layers.
template <class Work>
auto run_models(const py::object& progress, EvaluationOptions& options, Work work) {
  const auto total = std::make_shared<std::atomic<std::uint64_t>>(0);
  py::object listener = progress;
  if (!progress.is_none()) {
    listener =
        py::cpp_function([progress, total](std::uint64_t done) { progress(done, total->load()); });
  }
  return run(listener, [&](const Report& report) {
    options.progress = [&report, total](const EvaluationProgress& now) {
      total->store(now.total);
      return report(now.done);
    };
    return work();
  });
}

std::unique_ptr<Evaluation> evaluate_models(const OpenModel& base, const Models& others,
                                            const Ids& ids, const py::dict& options,
                                            const py::object& progress) {
  const TextChunks text = chunks_from(ids);
  std::vector<const Model*> models;
  for (const std::shared_ptr<OpenModel>& other : others) models.push_back(&other->model());
  auto to = options_from<EvaluationOptions>(options);
  return std::make_unique<Evaluation>(
      run_models(progress, to, [&] { return evaluate(base.model(), models, text, to); }));
}

py::array_t<float> logits_of(const OpenModel& model, const Ids& ids, const py::dict& options,
                             const py::object& progress) {
  const TextChunks text = chunks_from(ids);
  auto to = options_from<EvaluationOptions>(options);
  std::vector<float> logits =
      run_models(progress, to, [&] { return compute_logits(model.model(), text, to); });
  const std::size_t vocabulary = logits.size() / text.ids.size();
  return array_of(std::move(logits),
                  {size_of(text.chunk_count()), size_of(text.chunk_tokens), size_of(vocabulary)});
}

/// What a text becomes for a model that makes vectors.
TextChunks embedding_text(const OpenModel& model, const py::object& text, std::size_t chunk_tokens,
                          std::size_t max_chunks) {
  const std::string bytes = text_from(text);
  return run(py::none(), [&](const Report&) {
    return embedding_chunks_of(model.model(), bytes, chunk_tokens, max_chunks);
  });
}

py::tuple embeddings_of(const OpenModel& model, const py::object& text, std::size_t chunk_tokens,
                        std::size_t max_chunks, const py::dict& options,
                        const py::object& progress) {
  const TextChunks chunks = embedding_text(model, text, chunk_tokens, max_chunks);
  auto to = options_from<EvaluationOptions>(options);
  Embeddings found =
      run_models(progress, to, [&] { return compute_embeddings(model.model(), chunks, to); });
  const std::size_t count = found.count();
  return py::make_tuple(array_of(std::move(found.values), {size_of(count), size_of(found.size)}),
                        found.pooling);
}

py::dict compare_vectors(const OpenModel& base, const Models& others, const py::object& text,
                         std::size_t chunk_tokens, std::size_t max_chunks, const py::dict& options,
                         const py::object& progress) {
  const TextChunks chunks = embedding_text(base, text, chunk_tokens, max_chunks);
  std::vector<const Model*> models;
  for (const std::shared_ptr<OpenModel>& other : others) models.push_back(&other->model());
  auto to = options_from<EvaluationOptions>(options);
  return facts_of(run_models(progress, to,
                             [&] { return compare_embeddings(base.model(), models, chunks, to); }));
}

std::shared_ptr<ImportanceMatrix> collect(const OpenModel& model, const Ids& ids,
                                          const py::dict& options, const py::object& progress) {
  const TextChunks text = chunks_from(ids);
  auto to = options_from<ImportanceOptions>(options);
  return std::make_shared<ImportanceMatrix>(
      run_models(progress, to.run, [&] { return collect_importance(model.model(), text, to); }));
}

/// Measurements on their way from the thread of the work to the calling one.
class Measurements {
 public:
  explicit Measurements(py::object listener) : listener_(std::move(listener)) {}

  void add(const TensorSensitivity& one) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(one);
  }

  /// Gives the listener those that wait, each once. With the GIL.
  void deliver() {
    while (const std::optional<TensorSensitivity> one = next()) {
      if (!listener_.is_none()) listener_(facts_of(*one));
    }
  }

 private:
  std::optional<TensorSensitivity> next() {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return std::nullopt;
    std::optional<TensorSensitivity> first = std::move(waiting_.front());
    waiting_.pop_front();
    return first;
  }

  py::object listener_;
  std::mutex mutex_;
  std::deque<TensorSensitivity> waiting_;
};

py::object measure(const OpenModel& model, const Ids& ids,
                   const std::shared_ptr<ImportanceMatrix>& importance,
                   const std::vector<py::str>& known, const py::dict& options,
                   const py::object& measured, const py::object& progress) {
  const TextChunks text = chunks_from(ids);
  std::set<std::string, std::less<>> names;
  for (const py::str& name : known) names.insert(to_bytes(name));
  const auto measurements = std::make_shared<Measurements>(measured);
  SensitivityOptions to;
  to.run = options_from<EvaluationOptions>(options);
  to.importance = importance.get();
  to.is_known = [&](std::string_view name) { return names.contains(name); };
  to.measured = [&](const TensorSensitivity& one) { measurements->add(one); };
  const py::cpp_function listener(
      [progress, measurements](std::uint64_t done, std::uint64_t total) {
        measurements->deliver();
        if (!progress.is_none()) progress(done, total);
      });
  std::vector<TensorSensitivity> found;
  try {
    found = run_models(listener, to.run,
                       [&] { return measure_sensitivities(model.model(), text, to); });
  } catch (...) {
    // Chunks that were finished while the work was stopped are not lost either.
    const std::exception_ptr reason = std::current_exception();
    measurements->deliver();
    std::rethrow_exception(reason);
  }
  return fact_of(found);
}

const ModelComparison& other_of(const Evaluation& self, std::size_t index) {
  if (index >= self.others.size()) throw py::index_error("no such model");
  return self.others[index];
}

}  // namespace

void add_evaluate(py::module_& module) {
  module.def("chunks_of", &cut_text);
  module.def("evaluate", &evaluate_models);
  module.def("compute_logits", &logits_of);
  module.def("compute_embeddings", &embeddings_of);
  module.def("compare_embeddings", &compare_vectors);
  module.def("collect_importance", &collect);
  module.def("measure_sensitivities", &measure);
  py::class_<Evaluation>(module, "Evaluation")
      .def("facts", [](const Evaluation& self) { return facts_of(self); })
      .def("sorted_divergences",
           [](const Evaluation& self, std::size_t index) {
             return array_of(other_of(self, index).sorted_divergences);
           })
      .def("quantile", [](const Evaluation& self, std::size_t index,
                          double share) { return other_of(self, index).quantile(share); })
      .def("difference", [](const Evaluation& self, std::size_t a, std::size_t b) {
        other_of(self, a);
        other_of(self, b);
        const MeanEstimate difference = self.difference(a, b);
        return py::make_tuple(difference.mean, difference.error);
      });
}

}  // namespace ingot::python
