// SPDX-License-Identifier: MIT
#include "huggingface/export/arranged_return.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tensors/changed_numbers.hpp"
#include "huggingface/import/tensors/piece_stream.hpp"
#include "huggingface/import/tensors/transforms.hpp"
#include "ingot/quantize.hpp"

namespace ingot::huggingface {
namespace {

/// The most runs of a tensor: two for each of the most heads.
constexpr std::size_t max_runs = std::size_t{1} << 17;

/// Tensors of a model, one after the other, as F32.
class ModelNumbers final : public NumberSource {
 public:
  ModelNumbers(const Model& model, std::vector<const TensorInfo*> tensors)
      : model_(model), tensors_(std::move(tensors)) {}

  [[nodiscard]] TensorType type() const noexcept override { return TensorType::f32; }

  [[nodiscard]] Result<void> read(std::uint64_t first,
                                  std::span<std::byte> destination) const override {
    std::vector<std::byte> blocks;
    std::vector<float> numbers;
    for (const TensorInfo* tensor : tensors_) {
      const std::uint64_t count = tensor->element_count;
      if (first < count && !destination.empty()) {
        const std::uint64_t wanted =
            std::min<std::uint64_t>(count - first, destination.size() / sizeof(float));
        INGOT_TRY_VOID(decode(*tensor, first, wanted, blocks, numbers));
        const std::size_t bytes = static_cast<std::size_t>(wanted) * sizeof(float);
        const std::size_t skipped = first % find_type(tensor->type)->block_elements;
        std::memcpy(destination.data(), numbers.data() + skipped, bytes);
        destination = destination.subspan(bytes);
        first += wanted;
      }
      first -= std::min(first, count);
    }
    return {};
  }

 private:
  /// The blocks that hold some numbers of a tensor.
  Result<void> decode(const TensorInfo& tensor, std::uint64_t first, std::uint64_t count,
                      std::vector<std::byte>& blocks, std::vector<float>& numbers) const {
    const TensorTypeInfo& type = *find_type(tensor.type);
    const std::uint64_t begin = first / type.block_elements;
    const std::uint64_t end = (first + count - 1) / type.block_elements + 1;
    blocks.resize(static_cast<std::size_t>((end - begin) * type.block_bytes));
    numbers.resize(static_cast<std::size_t>((end - begin) * type.block_elements));
    INGOT_TRY_VOID(model_.read(tensor, begin * type.block_bytes, blocks));
    return dequantize(tensor.type, blocks, numbers,
                      {.byte_order = model_.files()[tensor.shard].byte_order});
  }

  const Model& model_;
  std::vector<const TensorInfo*> tensors_;
};

/// A dimension of a box of numbers: how far apart they lie in the folder, and in the model.
struct BoxStep {
  std::uint64_t size = 1;
  std::uint64_t folder = 1;
  std::uint64_t model = 1;
  [[nodiscard]] bool operator==(const BoxStep&) const = default;
};

/// Numbers that the import takes from one tensor of the folder to one tensor of the model.
struct Box {
  std::uint64_t folder = 0;  ///< The places of its first number.
  std::uint64_t model = 0;
  std::vector<BoxStep> steps = {};  ///< By falling distance in the folder.
};

void sort_steps(std::vector<BoxStep>& steps) {
  std::erase_if(steps, [](const BoxStep& step) { return step.size == 1; });
  std::ranges::sort(steps, std::ranges::greater(), &BoxStep::folder);
}

Box box_of(const Arrangement& part, std::uint64_t first_in_model) {
  Box box{.folder = part.first, .model = first_in_model};
  std::uint64_t distance = 1;
  for (auto axis = part.axes.rbegin(); axis != part.axes.rend(); ++axis) {
    for (auto step = axis->rbegin(); step != axis->rend(); ++step) {
      box.steps.push_back({step->size, step->stride, distance});
      distance *= step->size;
    }
  }
  sort_steps(box.steps);
  return box;
}

/// Makes one box of all, if they are alike and equally far apart: halves whose rows take turns.
void join_boxes(std::vector<Box>& boxes) {
  std::ranges::sort(boxes, {}, &Box::folder);
  if (boxes.size() < 2) return;
  const std::uint64_t folder = boxes[1].folder - boxes[0].folder;
  const std::uint64_t model = boxes[1].model - boxes[0].model;  // may wrap, and wraps back
  for (std::size_t i = 1; i < boxes.size(); ++i) {
    if (boxes[i].steps != boxes[0].steps || boxes[i].folder - boxes[i - 1].folder != folder ||
        boxes[i].model - boxes[i - 1].model != model) {
      return;
    }
  }
  boxes[0].steps.push_back({boxes.size(), folder, model});
  boxes.resize(1);
  sort_steps(boxes[0].steps);
}

/// Numbers that lie one after the other in the folder.
struct Run {
  std::uint64_t folder = 0;
  Arrangement part = {};
};

/// Cuts a box into its runs.
Result<void> add_runs(const Box& box, const std::shared_ptr<const NumberSource>& source,
                      std::vector<Run>& runs) {
  std::size_t dense = box.steps.size();
  std::uint64_t elements = 1;
  while (dense > 0 && box.steps[dense - 1].folder == elements) {
    elements *= box.steps[--dense].size;
  }
  Arrangement part{.source = source, .first = 0, .axes = {}};
  for (std::size_t i = dense; i < box.steps.size(); ++i) {
    part.axes.push_back({{box.steps[i].size, box.steps[i].model}});
  }
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < dense; ++i) count *= box.steps[i].size;
  if (count > max_runs - std::min(runs.size(), max_runs)) {
    return refuse("tensors", "their numbers are too scattered in the folder to be written");
  }
  for (std::uint64_t index = 0; index < count; ++index) {
    Run& run = runs.emplace_back(Run{box.folder, part});
    run.part.first = box.model;
    std::uint64_t rest = index;
    for (std::size_t i = dense; i-- > 0;) {
      run.folder += rest % box.steps[i].size * box.steps[i].folder;
      run.part.first += rest % box.steps[i].size * box.steps[i].model;
      rest /= box.steps[i].size;
    }
  }
  return {};
}

std::uint64_t count_of(const Arrangement& part) {
  std::uint64_t count = 1;
  for (const Axis& axis : part.axes) count *= size_of(axis);
  return count;
}

/// The tensor of the folder as numbers of the model.
Result<TensorView> turn_round(std::vector<Box> boxes,
                              const std::shared_ptr<const NumberSource>& source,
                              std::vector<std::uint64_t> shape) {
  join_boxes(boxes);
  std::vector<Run> runs;
  for (const Box& box : boxes) INGOT_TRY_VOID(add_runs(box, source, runs));
  std::ranges::sort(runs, {}, &Run::folder);
  TensorView view{.name = {}, .shape = std::move(shape)};
  std::uint64_t at = 0;
  for (Run& run : runs) {
    if (run.folder != at)
      return refuse("tensors", "the import takes numbers twice, or leaves some");
    at += count_of(run.part);
    view.parts.push_back(std::move(run.part));
  }
  return view;
}

MakeTensor maker_of(PlannedTensor tensor) {
  return [tensor = std::move(tensor)](const Model&, unsigned thread_count, const DataSink& sink) {
    return PieceStream(std::span(&tensor, 1), thread_count).stream(0, sink);
  };
}

}  // namespace

/// What the rules do to a tensor of the folder.
struct ArrangedReturn::Trace {
  bool is_arranged = false;
  ReturnedNumber number = {};                ///< As of ReturningTensor.
  std::vector<const TensorInfo*> from = {};  ///< The tensors of the model.
  std::string missing = {};                  ///< One that the model lacks.
};

Result<std::vector<std::uint64_t>> ArrangedReturn::shape_in_model(const std::string& name,
                                                                  Trace& trace) const {
  const TensorInfo* tensor = facts_.model.find_tensor(name);
  if (const auto mapped = names_.find(name); tensor == nullptr && mapped) {
    tensor = facts_.model.find_tensor(*mapped);
  }
  if (tensor == nullptr) {
    trace.missing = name;
    return std::vector<std::uint64_t>();
  }
  trace.from.push_back(tensor);
  return std::vector<std::uint64_t>(tensor->shape.rbegin(), tensor->shape.rend());
}

/// The shape of the tensor that has `name` before the rules from `rule` on.
Result<std::vector<std::uint64_t>> ArrangedReturn::shape_before(const std::string& name,
                                                                std::size_t rule,
                                                                Trace& trace) const {
  const std::vector<TransformRule>& rules = facts_.architecture.transforms;
  for (; rule < rules.size(); ++rule) {
    std::optional<NameParts> parts;
    for (const NamePattern& pattern : rules[rule].names) {
      if (!parts) parts = pattern.match(name, rules[rule].parts);
    }
    if (!parts) continue;
    const RuleContext context{.config = config_, .layer = parts->layer};
    INGOT_TRY(const bool is_meant, applies(rules[rule], context));
    if (!is_meant) continue;
    INGOT_TRY(const auto results, result_names(rules[rule], *parts, name));
    std::vector<std::vector<std::uint64_t>> shapes;
    for (const std::string& result : results) {
      INGOT_TRY(shapes.emplace_back(), shape_before(result, rule + 1, trace));
    }
    trace.is_arranged = trace.is_arranged || arranges(rules[rule]);
    if (!trace.missing.empty()) return std::vector<std::uint64_t>();
    if (arranges(rules[rule])) return shape_before_operation(rules[rule], context, shapes);
    ReturningTensor tensor{.name = name,
                           .shape = {shapes[0].rbegin(), shapes[0].rend()},
                           .number = std::move(trace.number)};
    INGOT_TRY_VOID(undo_operation(rules[rule], context, tensor));
    trace.number = std::move(tensor.number);
    return std::vector<std::uint64_t>(tensor.shape.rbegin(), tensor.shape.rend());
  }
  return shape_in_model(name, trace);
}

Result<std::optional<ReturnedTensor>> ArrangedReturn::find(const std::string& name) const {
  Trace trace;
  const bool is_arranged = std::ranges::any_of(facts_.architecture.transforms, arranges);
  if (!is_arranged) return std::optional<ReturnedTensor>();
  INGOT_TRY(auto shape, shape_before(name, 0, trace));
  if (!trace.is_arranged) return std::optional<ReturnedTensor>();
  if (!trace.missing.empty()) {
    return refuse(trace.missing, "the model lacks it, and folders have it as a part of " + name);
  }
  // The import itself says where each number goes.
  const RuleContext rules{.config = config_};
  const TransformContext context{.rules = rules};
  const auto zeros = zero_numbers(TensorType::f32);
  Transformer transformer(facts_.architecture, context);
  INGOT_TRY(const auto views, transformer.apply(view_of(name, shape, zeros)));
  std::vector<Box> boxes;
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < trace.from.size(); ++i) {
    const std::vector<std::uint64_t> wanted(trace.from[i]->shape.rbegin(),
                                            trace.from[i]->shape.rend());
    if (i >= views.size() || views[i].shape != wanted) {
      return refuse(
          std::string(trace.from[i]->name),
          "the import of " + name + " would give it another shape than " + shape_text(wanted));
    }
    for (const Arrangement& part : views[i].parts) {
      if (part.source->unchanged() != zeros.get()) {
        return refuse(name, "the import reads its numbers in an order that is not turned round");
      }
      boxes.push_back(box_of(part, first));
      first += count_of(part);
    }
  }
  INGOT_TRY(TensorView view,
            turn_round(std::move(boxes), std::make_shared<ModelNumbers>(facts_.model, trace.from),
                       shape));
  if (trace.number) {
    for (Arrangement& part : view.parts) {
      part.source = change_numbers(
          part.source, [number = trace.number](std::uint64_t, std::span<float> numbers) {
            std::ranges::transform(numbers, numbers.begin(), number);
            return Result<void>();
          });
    }
  }
  const auto make = [name, view = std::move(view)](TensorType type) {
    return maker_of({.info = {.name = name, .sources = {name}}, .pieces = pieces_of(view, type)});
  };
  return std::optional(ReturnedTensor{{shape.rbegin(), shape.rend()}, trace.from, make});
}

}  // namespace ingot::huggingface
