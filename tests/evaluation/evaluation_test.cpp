// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

#include "evaluation/parts.hpp"
#include "evaluation/tiny_networks.hpp"
#include "ingot/architectures.hpp"
#include "ingot/embeddings.hpp"
#include "ingot/evaluate.hpp"
#include "support/expect_error.hpp"
#include "support/shared_files.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

using testing::HasSubstr;

Model open_model(const std::string& path) {
  Result<Model> model = Model::open(path);
  if (!model) throw std::runtime_error(model.error().message());
  return std::move(*model);
}

/// The sample of a row, with small weights.
ModelSketch sketch_of_row(const char* name) {
  const auto sample = plan_architecture_sample(*find_architecture(name), {}, tiny_vocabulary);
  ModelSketch sketch;
  sketch.set("general.architecture", name);
  for (const SampleKey& key : sample->keys) {
    if (const auto* number = std::get_if<std::int64_t>(&key.values[0])) {
      sketch.set(key.name, static_cast<std::uint32_t>(*number));
    } else if (const auto* real = std::get_if<double>(&key.values[0])) {
      sketch.set(key.name, static_cast<float>(*real));
    }
  }
  std::mt19937 random(3);
  for (const SampleTensor& tensor : sample->tensors) {
    std::uint64_t count = 1;
    for (const std::uint64_t size : tensor.shape) count *= size;
    const float center = tensor.name.ends_with("ssm_a") ? -1.0F : 0.0F;
    std::vector<float> floats(count);
    for (float& each : floats) each = center + static_cast<float>(random() % 2001) / 1e4F - 0.1F;
    Bytes data(count * sizeof(float));
    std::memcpy(data.data(), floats.data(), data.size());
    sketch.tensor(tensor.name, TensorType::f32, tensor.shape, std::move(data));
  }
  return sketch;
}

class EvaluateTest : public testing::Test {
 protected:
  [[nodiscard]] Model write(const ModelSketch& sketch, const std::string& name = "model.gguf") {
    return open_model(sketch.write(folder_.path(name)));
  }
  [[nodiscard]] Model tiny(const std::string& name) {
    return write(tiny_models().at(name).sketch, name + ".gguf");
  }

  TemporaryFolder folder_;
};

TEST_F(EvaluateTest, PartsOfEveryPassAreKnown) {
  for (const std::string_view name : architecture_names()) {
    const Architecture* row = find_architecture(name);
    const auto parts = evaluation::parts_of(*row);
    EXPECT_TRUE(parts.has_value()) << name << ": " << parts.error().message();
    EXPECT_TRUE(!row->is_evaluated || row->is_described()) << name;
  }
  Architecture row = *find_architecture("llama");
  row.pass.emplace_back("gleu");
  EXPECT_THAT(evaluation::parts_of(row), FailsWith(Errc::internal));
}

TEST_F(EvaluateTest, ModelDoesNotDivergeFromItself) {
  const Model base = tiny("llama");
  const Model* others[] = {&base};
  const auto found = evaluate(base, others, tiny_text());
  ASSERT_TRUE(found.has_value()) << found.error().message();
  EXPECT_EQ(found->others[0].divergence.mean, 0.0);
  EXPECT_EQ(found->others[0].same_top.mean, 1.0);
  EXPECT_EQ(found->others[0].log_ratio.mean, 0.0);
  EXPECT_EQ(found->scored_tokens, 2u * 19u);
}

/// Divergence and losses by the definition, from all logits.
TEST_F(EvaluateTest, FiguresFollowFromLogits) {
  const Model base = tiny("llama");
  const Model other = tiny("qwen2");
  const TextChunks text = tiny_text();
  const Model* others[] = {&other};
  const auto found = evaluate(base, others, text);
  ASSERT_TRUE(found.has_value()) << found.error().message();
  const auto p = compute_logits(base, text);
  const auto q = compute_logits(other, text);
  ASSERT_TRUE(p.has_value() && q.has_value());

  std::vector<double> divergences, losses, tops;
  for (std::size_t chunk = 0; chunk < 2; ++chunk) {
    double divergence = 0, loss = 0, top = 0;
    for (std::size_t t = 20; t < 39; ++t) {
      const std::size_t token = chunk * 40 + t;
      const float* a = p->data() + token * tiny_vocabulary;
      const float* b = q->data() + token * tiny_vocabulary;
      double sum_a = 0, sum_b = 0;
      for (std::size_t i = 0; i < tiny_vocabulary; ++i) {
        sum_a += std::exp(double{a[i]});
        sum_b += std::exp(double{b[i]});
      }
      for (std::size_t i = 0; i < tiny_vocabulary; ++i) {
        const double share = std::exp(double{a[i]}) / sum_a;
        divergence += share * std::log(share / (std::exp(double{b[i]}) / sum_b));
      }
      loss += std::log(sum_b) - double{b[text.ids[token + 1]]};
      top += std::max_element(a, a + tiny_vocabulary) - a ==
                     std::max_element(b, b + tiny_vocabulary) - b
                 ? 1
                 : 0;
    }
    divergences.push_back(divergence / 19);
    losses.push_back(loss / 19);
    tops.push_back(top / 19);
  }
  const ModelComparison& comparison = found->others[0];
  for (std::size_t chunk = 0; chunk < 2; ++chunk) {
    EXPECT_NEAR(comparison.chunk_divergences[chunk], divergences[chunk], 1e-5);
    EXPECT_NEAR(comparison.score.chunk_losses[chunk], losses[chunk], 1e-5);
    EXPECT_NEAR(comparison.chunk_same_tops[chunk], tops[chunk], 1e-12);
  }
  EXPECT_NEAR(comparison.divergence.error, std::abs(divergences[0] - divergences[1]) / 2, 1e-5);
  EXPECT_GT(comparison.quantile(1.0), comparison.quantile(0.5));
}

TEST_F(EvaluateTest, NumberOfThreadsDoesNotShow) {
  const Model base = tiny("mixtral");
  const Model other = tiny("qwen3moe");
  const Model* others[] = {&other};
  const auto one = evaluate(base, others, tiny_text(), {.thread_count = 1});
  const auto five = evaluate(base, others, tiny_text(), {.thread_count = 5});
  ASSERT_TRUE(one.has_value() && five.has_value());
  EXPECT_EQ(one->others[0].divergence.mean, five->others[0].divergence.mean);
  EXPECT_EQ(one->base.loss.mean, five->base.loss.mean);
}

TEST_F(EvaluateTest, QuantizedWeightsCountAsTheirDecodedValues) {
  SketchShape shape;
  shape.embedding = 32;
  shape.feed_forward = 64;
  shape.type = TensorType::q4_0;
  ModelSketch quantized = sketch_llama(shape);
  ModelSketch decoded = quantized;
  for (SketchTensor& tensor : decoded.tensors) {
    if (tensor.type != TensorType::q4_0) continue;
    const std::size_t count = tensor.data.size() / 18 * 32;
    Bytes floats(count * sizeof(float));
    std::vector<float> numbers(count);
    ASSERT_TRUE(dequantize(tensor.type, tensor.data, numbers).has_value());
    std::memcpy(floats.data(), numbers.data(), floats.size());
    tensor.type = TensorType::f32;
    tensor.data = floats;
  }
  TextChunks text = tiny_text(8, 3);
  for (TokenId& id : text.ids) id %= 10;
  const auto a = compute_logits(write(quantized, "quantized.gguf"), text);
  const auto b = compute_logits(write(decoded, "decoded.gguf"), text);
  ASSERT_TRUE(a.has_value() && b.has_value());
  EXPECT_EQ(*a, *b);
}

TEST_F(EvaluateTest, ChunksDoNotSeeOneAnother) {
  const Model model = tiny("llama");
  TextChunks text = tiny_text(40, 3);
  const auto all = compute_logits(model, text);
  text.ids.erase(text.ids.begin(), text.ids.begin() + 40);
  const auto rest = compute_logits(model, text);
  ASSERT_TRUE(all.has_value() && rest.has_value());
  EXPECT_TRUE(std::equal(rest->begin(), rest->end(), all->begin() + 40 * tiny_vocabulary));
}

TEST_F(EvaluateTest, ProgressEndsTheWork) {
  const Model model = tiny("llama");
  std::uint64_t calls = 0;
  EvaluationOptions options;
  options.progress = [&](const EvaluationProgress& progress) {
    EXPECT_EQ(progress.total, 2u * 4u);
    return ++calls < 2;
  };
  EXPECT_THAT(evaluate(model, {}, tiny_text(), options), FailsWith(Errc::interrupted));
  EXPECT_EQ(calls, 2u);
}

/// A measurement is what `evaluate` finds for a file in which that tensor alone is quantized.
/// Quantizes a tensor of floats, and returns them.
std::vector<float> quantize_tensor(SketchTensor& tensor, TensorType type) {
  std::vector<float> numbers(tensor.data.size() / sizeof(float));
  std::memcpy(numbers.data(), tensor.data.data(), tensor.data.size());
  const TensorTypeInfo& info = *find_type(type);
  tensor.type = type;
  tensor.data.resize(numbers.size() / info.block_elements * info.block_bytes);
  EXPECT_TRUE(quantize(type, numbers, static_cast<std::size_t>(tensor.shape[0]), tensor.data));
  return numbers;
}

TEST_F(EvaluateTest, SensitivityIsTheDivergenceOfOneQuantizedTensor) {
  SketchShape shape;
  shape.embedding = 32;
  shape.feed_forward = 64;
  ModelSketch sketch = sketch_llama(shape);
  sketch.tensor("output.weight", TensorType::f32, {32, 10});
  const Model base = write(sketch, "base.gguf");
  TextChunks text = tiny_text(40, 20);
  for (TokenId& id : text.ids) id %= 10;
  const auto found = measure_sensitivities(base, text);
  ASSERT_TRUE(found.has_value()) << found.error().message();
  ASSERT_EQ(found->size(), 16u);  // 7 matrices in each layer, the embedding, the output
  for (const char* name : {"token_embd.weight", "blk.0.attn_v.weight", "blk.1.ffn_down.weight",
                           "blk.1.attn_output.weight", "output.weight"}) {
    ModelSketch changed = sketch;
    SketchTensor& tensor = *changed.find(name);
    // Rows of 32 and 64 are no blocks of Q2_K.
    const std::vector<float> numbers = quantize_tensor(tensor, TensorType::q4_0);
    const Model other = write(changed, "other.gguf");
    const Model* others[] = {&other};
    const auto expected = evaluate(base, others, text);
    ASSERT_TRUE(expected.has_value()) << expected.error().message();
    const auto one = std::ranges::find(*found, name, &TensorSensitivity::name);
    ASSERT_NE(one, found->end()) << name;
    EXPECT_EQ(one->divergence, expected->others[0].divergence.mean) << name;
    EXPECT_EQ(one->divergence_error, expected->others[0].divergence.error) << name;
    EXPECT_GT(one->divergence, 0.0);
    std::vector<float> decoded(numbers.size());
    ASSERT_TRUE(dequantize(tensor.type, tensor.data, decoded));
    double errors = 0.0, squares = 0.0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      errors += std::pow(double{decoded[i]} - double{numbers[i]}, 2.0);
      squares += std::pow(double{numbers[i]}, 2.0);
    }
    EXPECT_NEAR(one->relative_error, errors / squares, 1e-9) << name;
    EXPECT_EQ(one->weighted_error, 0.0);
  }
}

/// Queries, keys, values and gates of each head of keys together, as in the first files.
void fuse_heads(ModelSketch& sketch, const std::string& layer) {
  constexpr std::size_t size = 64, keys = 4, values = 128, row_bytes = 256 * sizeof(float);
  const Bytes mixed = sketch.data(layer + "attn_qkv.weight");
  const Bytes gates = sketch.data(layer + "attn_gate.weight");
  Bytes fused;
  const auto add = [&](const Bytes& from, std::size_t first, std::size_t count) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first * row_bytes);
    fused.insert(fused.end(), begin, begin + static_cast<std::ptrdiff_t>(count * row_bytes));
  };
  for (std::size_t head = 0; head < keys; ++head) {
    add(mixed, head * size, size);
    add(mixed, (keys + head) * size, size);
    add(mixed, 2 * keys * size + head * values, values);
    add(gates, head * values, values);
  }
  sketch.remove_tensor(layer + "attn_qkv.weight").remove_tensor(layer + "attn_gate.weight");
  sketch.tensor(layer + "ssm_in.weight", TensorType::f32, {256, keys * 2 * (size + values)}, fused);
}

TEST_F(EvaluateTest, OldFilesOfQwen3NextHaveFusedHeads) {
  ModelSketch sketch = sketch_of_row("qwen3next");
  const auto expected = compute_logits(write(sketch), tiny_text());
  ASSERT_TRUE(expected.has_value()) << expected.error().message();
  ASSERT_TRUE(std::ranges::all_of(*expected, [](float logit) { return std::isfinite(logit); }));
  for (const char* layer : {"blk.0.", "blk.2."}) fuse_heads(sketch, layer);
  const auto found = compute_logits(write(sketch, "old.gguf"), tiny_text());
  ASSERT_TRUE(found.has_value()) << found.error().message();
  EXPECT_EQ(*found, *expected);
}

/// Layers of RWKV 7 read values of the first one, so these are a part of the stored inputs.
TEST_F(EvaluateTest, SensitivityBehindLayersThatLeaveValues) {
  ModelSketch sketch = sketch_of_row("rwkv7");
  const Model base = write(sketch, "base.gguf");
  const TextChunks text = tiny_text(16, 2);
  const std::string name = "blk.2.channel_mix_key.weight";
  SensitivityOptions options;
  options.is_known = [&](std::string_view each) { return each != name; };
  const auto found = measure_sensitivities(base, text, options);
  ASSERT_TRUE(found.has_value()) << found.error().message();
  ASSERT_EQ(found->size(), 1u);
  quantize_tensor(*sketch.find(name), TensorType::q2_k);
  const Model other = write(sketch, "other.gguf");
  const Model* others[] = {&other};
  const auto expected = evaluate(base, others, text);
  ASSERT_TRUE(expected.has_value()) << expected.error().message();
  EXPECT_EQ(found->front().divergence, expected->others[0].divergence.mean);
  EXPECT_GT(found->front().divergence, 0.0);
}

TEST_F(EvaluateTest, KnownSensitivitiesAreNotMeasuredAgain) {
  const Model model = tiny("mixtral");  // rows of 48 and 80 fit no type
  EXPECT_TRUE(measure_sensitivities(model, tiny_text())->empty());
  SketchShape shape;
  shape.embedding = 32;
  shape.feed_forward = 64;
  const Model small = write(sketch_llama(shape), "small.gguf");
  TextChunks text = tiny_text();
  for (TokenId& id : text.ids) id %= 10;
  const auto all = measure_sensitivities(small, text);
  std::vector<std::string> measured;
  SensitivityOptions options;
  options.is_known = [](std::string_view name) { return name != "blk.1.attn_k.weight"; };
  options.measured = [&](const TensorSensitivity& one) { measured.push_back(one.name); };
  const auto rest = measure_sensitivities(small, text, options);
  ASSERT_TRUE(all.has_value() && rest.has_value());
  ASSERT_EQ(rest->size(), 1u);
  EXPECT_EQ(measured, std::vector<std::string>{"blk.1.attn_k.weight"});
  const auto same = std::ranges::find(*all, "blk.1.attn_k.weight", &TensorSensitivity::name);
  EXPECT_EQ(rest->front().divergence, same->divergence);
}

TEST_F(EvaluateTest, SensitivityProgressReachesItsEnd) {
  SketchShape shape;
  shape.embedding = 32;
  shape.feed_forward = 64;
  const Model model = write(sketch_llama(shape));
  TextChunks text = tiny_text();
  for (TokenId& id : text.ids) id %= 10;
  EvaluationProgress last;
  SensitivityOptions options;
  options.run.progress = [&](const EvaluationProgress& progress) {
    EXPECT_GT(progress.done, last.done);
    last = progress;
    return true;
  };
  ASSERT_TRUE(measure_sensitivities(model, text, options).has_value());
  EXPECT_EQ(last.done, last.total);
}

/// The inputs of the first layer are embeddings behind a norm, which are easily made again.
TEST_F(EvaluateTest, SecondMomentsAreMeansOfProducts) {
  const Model model = tiny("llama");
  const TextChunks text = tiny_text();
  constexpr std::size_t width = 48;
  std::vector<float> norm(width), row(width);
  ASSERT_TRUE(
      model.dequantize_rows(*model.find_tensor("blk.0.attn_norm.weight"), 0, 1, norm).has_value());
  std::vector<double> expected(width * width);
  for (const TokenId id : text.ids) {
    const auto from = static_cast<std::uint64_t>(id);
    ASSERT_TRUE(model.dequantize_rows(*model.find_tensor("token_embd.weight"), from, 1, row));
    double squares = 0.0;
    for (const float x : row) squares += double{x} * double{x};
    const double factor = 1.0 / std::sqrt(squares / width + 1e-5);
    for (std::size_t i = 0; i < width; ++i) row[i] *= static_cast<float>(factor) * norm[i];
    for (std::size_t i = 0; i < width * width; ++i) {
      expected[i] += double{row[i / width]} * double{row[i % width]} / 80.0;
    }
  }
  // Blocks that fill panels, that do not, and one that is larger than the matrix.
  for (const std::size_t size : {std::size_t{32}, std::size_t{20}, std::size_t{256}}) {
    const auto found = collect_importance(model, text, {.moment_columns = size});
    ASSERT_TRUE(found.has_value()) << found.error().message();
    ASSERT_TRUE(found->check_values().has_value());
    const ImatrixEntry& entry = *found->find("blk.0.attn_k.weight");
    EXPECT_EQ(entry.moment_columns, size);
    for (std::size_t first = 0; first < width; first += size) {
      const std::size_t columns = std::min(size, width - first);
      std::vector<float> moments(columns * columns);
      ASSERT_TRUE(found->read_moments(entry, 0, first / size, moments).has_value());
      for (std::size_t i = 0; i < moments.size(); ++i) {
        const std::size_t at = (first + i / columns) * width + first + i % columns;
        EXPECT_NEAR(double{moments[i]}, expected[at], 1e-5) << size << ", " << i;
      }
    }
  }
}

TEST_F(EvaluateTest, SecondMomentsOfExpertsCountTheirTokens) {
  const Model model = tiny("mixtral");
  const auto found = collect_importance(model, tiny_text(), {.moment_columns = 64});
  ASSERT_TRUE(found.has_value()) << found.error().message();
  const ImatrixEntry& entry = *found->find("blk.1.ffn_down_exps.weight");
  ASSERT_EQ(entry.expert_count, 5u);
  std::vector<float> means(entry.value_count), moments(std::size_t{64} * 64);
  ASSERT_TRUE(found->read_weights(entry, 0, means).has_value());
  for (std::size_t expert = 0; expert < 5; ++expert) {
    ASSERT_TRUE(found->read_moments(entry, expert, 0, moments).has_value());
    for (std::size_t i = 0; i < 64; ++i) {
      EXPECT_NEAR(moments[i * 65] / means[expert * 80 + i], 1.0F, 1e-4F);
      EXPECT_EQ(moments[i * 64 + 7], moments[7 * 64 + i]);
    }
  }
}

TEST_F(EvaluateTest, SecondMomentsCountAsMemory) {
  const Model model = tiny("llama");
  ImportanceOptions options{.moment_columns = 256};
  options.run.max_memory_bytes = 100'000'000;
  ASSERT_TRUE(collect_importance(model, tiny_text(), options).has_value());
  // Less, until it is too little: the sums, which take 0.5 million bytes, are the last to count.
  while (collect_importance(model, tiny_text(), options)) {
    options.run.max_memory_bytes -= options.run.max_memory_bytes > 10'000'000 ? 1'000'000 : 100'000;
  }
  const auto refused = collect_importance(model, tiny_text(), options);
  EXPECT_THAT(refused, FailsWith(Errc::limit_exceeded));
  EXPECT_THAT(refused.error().message(), HasSubstr("smaller blocks need less"));
}

/// Three batches of chunks.
TextChunks long_text() {
  TextChunks text{{}, 257};
  for (std::uint32_t i = 0; i < 3 * 257; ++i) text.ids.push_back(static_cast<TokenId>(i * 7 % 32));
  return text;
}

TEST_F(EvaluateTest, PartsOfATextAreRunsOfChunks) {
  const TextChunks text = long_text();
  EXPECT_EQ(max_text_parts(text), 3u);
  for (const std::size_t count : {1U, 2U, 3U}) {
    std::vector<TokenId> ids;
    for (std::size_t i = 0; i < count; ++i) {
      const auto part = part_of_text(text, i, count);
      ASSERT_TRUE(part.has_value());
      EXPECT_GT(part->chunk_count(), 0u);
      ids.insert(ids.end(), part->ids.begin(), part->ids.end());
    }
    EXPECT_EQ(ids, text.ids);
  }
  EXPECT_THAT(part_of_text(text, 0, 4), FailsWith(Errc::invalid_argument));
  EXPECT_THAT(part_of_text(text, 2, 2), FailsWith(Errc::invalid_argument));
  EXPECT_THAT(join_evaluations({}), FailsWith(Errc::invalid_argument));
}

TEST_F(EvaluateTest, FiguresOfPartsAreThoseOfOneRun) {
  const Model base = tiny("mixtral");
  const Model other = tiny("llama");
  const Model* others[] = {&other};
  const TextChunks text = long_text();
  const auto whole = evaluate(base, others, text);
  ASSERT_TRUE(whole.has_value()) << whole.error().message();
  std::vector<Evaluation> parts;
  for (std::size_t i = 0; i < 3; ++i) {
    parts.push_back(*evaluate(base, others, *part_of_text(text, i, 3)));
  }
  const auto joined = join_evaluations(parts);
  ASSERT_TRUE(joined.has_value());
  EXPECT_EQ(joined->scored_tokens, whole->scored_tokens);
  EXPECT_EQ(joined->base.chunk_losses, whole->base.chunk_losses);
  EXPECT_EQ(joined->others[0].divergence.mean, whole->others[0].divergence.mean);
  EXPECT_EQ(joined->others[0].divergence.error, whole->others[0].divergence.error);
  EXPECT_EQ(joined->others[0].sorted_divergences, whole->others[0].sorted_divergences);
  parts[1].others.clear();
  EXPECT_THAT(join_evaluations(parts), FailsWith(Errc::invalid_argument));
}

TEST_F(EvaluateTest, ExactSumsOfPartsAddUpInAnyOrder) {
  const Model model = tiny("mixtral");
  const TextChunks text = long_text();
  const auto collect = [&](const TextChunks& part) {
    auto matrix = collect_importance(model, part, {.has_exact_sums = true});
    if (!matrix) throw std::runtime_error(matrix.error().message());
    return std::move(*matrix);
  };
  const auto bytes_of = [&](const ImportanceMatrix& matrix) {
    EXPECT_THAT(matrix.check_values(), Succeeds());
    EXPECT_THAT(matrix.write(folder_.path("written"), ImatrixFormat::gguf, true), Succeeds());
    std::ifstream file(folder_.path("written"), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string whole = bytes_of(collect(text));
  ImportanceMatrix joined = collect(*part_of_text(text, 2, 3));
  ASSERT_THAT(joined.merge(collect(*part_of_text(text, 0, 3))), Succeeds());
  ASSERT_THAT(joined.merge(collect(*part_of_text(text, 1, 3))), Succeeds());
  EXPECT_EQ(bytes_of(joined), whole);
  // Without exact sums in all of them there are none.
  ASSERT_THAT(joined.merge(*collect_importance(model, text)), Succeeds());
  EXPECT_EQ(bytes_of(joined).find("in_sum2_exact"), std::string::npos);
}

TEST_F(EvaluateTest, ImportanceCountsInputs) {
  const Model model = tiny("mixtral");
  auto found = collect_importance(model, tiny_text(), {.dataset = "text.txt"});
  ASSERT_TRUE(found.has_value()) << found.error().message();
  EXPECT_EQ(found->chunk_count(), 2u);
  EXPECT_EQ(found->chunk_size(), 40u);
  EXPECT_EQ(found->datasets()[0], "text.txt");
  const ImatrixEntry* entry = found->find("blk.1.attn_q.weight");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(found->read_counts(*entry).value(), std::vector<double>{80.0});
  // The inputs are those of a norm: without its weights, the mean of their squares is 1.
  std::vector<float> means(48), norm(48);
  ASSERT_TRUE(found->read_weights(*entry, 0, means).has_value());
  ASSERT_TRUE(
      model.dequantize_rows(*model.find_tensor("blk.1.attn_norm.weight"), 0, 1, norm).has_value());
  double sum = 0;
  for (std::size_t i = 0; i < 48; ++i) sum += double{means[i]} / double{norm[i] * norm[i]};
  EXPECT_NEAR(sum / 48, 1.0, 1e-4);
  const ImatrixEntry* experts = found->find("blk.0.ffn_down_exps.weight");
  ASSERT_NE(experts, nullptr);
  EXPECT_EQ(experts->expert_count, 5u);
  double tokens = 0;
  const std::vector<double> counts = found->read_counts(*experts).value();
  for (const double count : counts) tokens += count;
  EXPECT_EQ(tokens, 160.0);  // two experts a token
  EXPECT_EQ(found->find("output.weight"), nullptr);
}

// --- models that make vectors of texts -----------------------------------------------------------

ModelSketch sketch_of_encoder(const std::string& name) {
  ModelSketch sketch = sketch_of_row(name.c_str());
  sketch.set(name + ".attention.causal", false);
  return sketch;
}

TEST_F(EvaluateTest, EncoderMakesVectorsAndPredictsNothing) {
  const Model model = write(sketch_of_encoder("bert"));
  const ModelUses uses = uses_of(model);
  EXPECT_FALSE(uses.predicts);
  EXPECT_TRUE(uses.makes_vectors);
  const auto logits = compute_logits(model, tiny_text());
  ASSERT_FALSE(logits.has_value());
  EXPECT_THAT(logits.error().message(), HasSubstr("bert.attention.causal"));
  EXPECT_FALSE(evaluate(model, {}, tiny_text()).has_value());
  const Model* others[] = {&model};
  const auto found = compare_embeddings(model, others, tiny_text(9, 5));
  ASSERT_TRUE(found.has_value()) << found.error().message();
  EXPECT_EQ(found->others[0].distance.mean, 0.0);
  EXPECT_EQ(found->others[0].same_neighbour, 1.0);
  EXPECT_EQ(found->others[0].neighbour_order, 1.0);
  EXPECT_EQ(found->chunk_count, 5U);
}

TEST_F(EvaluateTest, ChunkOfAnEncoderDoesNotSeeOthers) {
  const Model model = write(sketch_of_encoder("modern-bert"));
  const TextChunks both = tiny_text(40, 2);
  TextChunks second{{both.ids.begin() + 40, both.ids.end()}, 40};
  const auto together = compute_embeddings(model, both);
  const auto alone = compute_embeddings(model, second);
  ASSERT_TRUE(together.has_value() && alone.has_value());
  ASSERT_EQ(together->count(), 2U);
  for (std::size_t i = 0; i < alone->size; ++i) {
    EXPECT_FLOAT_EQ(together->vector(1)[i], alone->values[i]) << i;
  }
}

TEST_F(EvaluateTest, TokensOfAnEncoderSeeLaterOnes) {
  ModelSketch sketch = sketch_of_encoder("nomic-bert");
  sketch.set("nomic-bert.pooling_type", std::uint32_t{2});
  const Model model = write(sketch);
  TextChunks text = tiny_text(40, 1);
  const auto first = compute_embeddings(model, text);
  text.ids.back() = (text.ids.back() + 1) % 50;
  const auto changed = compute_embeddings(model, text);
  ASSERT_TRUE(first.has_value()) << first.error().message();
  ASSERT_TRUE(changed.has_value()) << changed.error().message();
  EXPECT_EQ(first->pooling, "first");
  EXPECT_NE(first->values, changed->values);
}

// --- models that cannot be evaluated -----------------------------------------------------------

class HostileNetworkTest : public EvaluateTest {
 protected:
  void expect_refused(const ModelSketch& sketch, const std::string& reason,
                      Errc code = Errc::network_invalid) {
    const Model model = write(sketch);
    const auto found = evaluate(model, {}, tiny_text());
    ASSERT_FALSE(found.has_value());
    EXPECT_EQ(found.error().code, code);
    EXPECT_THAT(found.error().message(), HasSubstr(reason));
  }
  ModelSketch sketch_ = tiny_models().at("llama").sketch;
};

TEST_F(HostileNetworkTest, UnknownArchitecture) {
  sketch_.set("general.architecture", "wavtokenizer-dec");
  expect_refused(sketch_, "the forward pass of \"wavtokenizer-dec\" is unknown; known are apertus",
                 Errc::network_unsupported);
}
TEST_F(HostileNetworkTest, TokensThatSeeLaterOnes) {
  expect_refused(sketch_.set("llama.attention.causal", false), "llama.attention.causal",
                 Errc::network_unsupported);
  expect_refused(sketch_, "(it is false, so tokens see later ones", Errc::network_unsupported);
  const Model causal = write(sketch_.set("llama.attention.causal", true));
  EXPECT_TRUE(evaluate(causal, {}, tiny_text()).has_value());
  expect_refused(sketch_.set("llama.attention.causal", "no"), "llama.attention.causal",
                 Errc::wrong_type);
}
TEST_F(HostileNetworkTest, ShapeThatContradictsKeys) {
  sketch_.set("llama.attention.head_count", std::uint32_t{8});
  expect_refused(sketch_, "(its shape is 48 x 64; the keys call for");
}
TEST_F(HostileNetworkTest, NoLayers) {
  expect_refused(sketch_.set("llama.block_count", std::uint32_t{0}), "llama.block_count");
}
TEST_F(HostileNetworkTest, MoreLayersThanTensors) {
  expect_refused(sketch_.set("llama.block_count", std::uint32_t{9999}), "blk.4.attn_norm.weight",
                 Errc::tensor_not_found);
}
TEST_F(HostileNetworkTest, LayersWithoutAKey) {
  expect_refused(sketch_.set("llama.block_count", std::uint32_t{3}),
                 "(the architecture has no place", Errc::network_unsupported);
}
TEST_F(HostileNetworkTest, NoHeads) {
  expect_refused(sketch_.set("llama.attention.head_count", std::uint32_t{0}), "head_count");
}
TEST_F(HostileNetworkTest, HeadsThatCannotShare) {
  expect_refused(sketch_.set("llama.attention.head_count_kv", std::uint32_t{3}), "cannot share");
}
TEST_F(HostileNetworkTest, HugeSizes) {
  for (const char* key : {"embedding_length", "feed_forward_length", "attention.head_count",
                          "attention.key_length", "rope.dimension_count", "expert_count"}) {
    ModelSketch sketch = sketch_;
    expect_refused(sketch.set(std::string("llama.") + key, ~std::uint64_t{0}), key);
  }
}
TEST_F(HostileNetworkTest, UnknownScalingOfRotation) {
  expect_refused(sketch_.set("llama.rope.scaling.type", "spiral"), "llama.rope.scaling.type",
                 Errc::network_unsupported);
}
TEST_F(HostileNetworkTest, StatesOfNoSize) {
  const ModelSketch made = sketch_of_row("mamba2");
  const Model model = write(made);
  EXPECT_TRUE(evaluate(model, {}, tiny_text()).has_value());
  for (const char* key : {"mamba2.ssm.group_count", "mamba2.ssm.state_size"}) {
    ModelSketch sketch = made;
    expect_refused(sketch.set(key, std::uint32_t{0}), "blk.0.ssm_in.weight");
  }
  ModelSketch rwkv = sketch_of_row("rwkv7");
  for (const std::uint32_t size : {0U, 100U}) {
    expect_refused(rwkv.set("rwkv7.wkv.head_size", size), "rwkv7.wkv.head_size");
  }
}
TEST_F(HostileNetworkTest, MissingTensor) {
  expect_refused(sketch_.remove_tensor("blk.2.ffn_up.weight"), "blk.2.ffn_up.weight",
                 Errc::tensor_not_found);
}
TEST_F(HostileNetworkTest, WeightThatIsNoNumber) {
  auto& data = sketch_.find("blk.1.ffn_down.weight")->data;
  std::fill(data.begin(), data.begin() + 4, std::byte{0xFF});
  expect_refused(sketch_, "a weight is NaN or infinite", Errc::weight_not_finite);
}
TEST_F(HostileNetworkTest, TokenOutsideTheVocabulary) {
  const Model model = write(sketch_);
  for (const TokenId id : {TokenId{-1}, TokenId{tiny_vocabulary}}) {
    TextChunks text = tiny_text();
    text.ids.back() = id;
    EXPECT_THAT(evaluate(model, {}, text), FailsWith(Errc::index_out_of_range));
  }
}
TEST_F(HostileNetworkTest, ChunksOfNoUse) {
  const Model model = write(sketch_);
  TextChunks text = tiny_text();
  text.ids.pop_back();
  EXPECT_THAT(evaluate(model, {}, text), FailsWith(Errc::invalid_argument));
  EXPECT_THAT(evaluate(model, {}, TextChunks{}), FailsWith(Errc::invalid_argument));
  text = tiny_text(4, 4);
  EXPECT_THAT(evaluate(model, {}, text), FailsWith(Errc::invalid_argument));
}
TEST_F(HostileNetworkTest, MemoryIsBounded) {
  const Model model = write(sketch_);
  EvaluationOptions options;
  options.max_memory_bytes = 100'000;
  EXPECT_THAT(evaluate(model, {}, tiny_text(), options), FailsWith(Errc::limit_exceeded));
}
TEST_F(HostileNetworkTest, VocabulariesOfDifferentSizes) {
  const Model base = write(sketch_, "base.gguf");
  const Model other = write(sketch_llama(), "other.gguf");
  const Model* others[] = {&other};
  const auto found = evaluate(base, others, tiny_text());
  ASSERT_FALSE(found.has_value());
  EXPECT_THAT(found.error().message(),
              HasSubstr("\"token_embd.weight\" in \"" + other.files().front().path + "\""));
}

// --- the trained model -------------------------------------------------------------------------

class TrainedModelTest : public SharedFilesTest {
 protected:
  void SetUp() override { require_files(place_ / "tiny-bytes-f32.gguf"); }

  [[nodiscard]] std::string text_of(const char* name) const {
    std::ifstream file(place_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path place_ = shared_folder() / "golden/eval";
};

/// The figure of llama.cpp (README of the folder): 4.7825 over the whole text.
TEST_F(TrainedModelTest, PerplexityIsThatOfTheReference) {
  const Model model = open_model(place_ / "tiny-bytes-f32.gguf");
  const auto text = chunks_of(model, text_of("tiny-bytes-heldout.txt"), 128);
  ASSERT_TRUE(text.has_value()) << text.error().message();
  EXPECT_EQ(text->chunk_count(), 512u);
  const auto found = evaluate(model, {}, *text);
  ASSERT_TRUE(found.has_value()) << found.error().message();
  EXPECT_NEAR(found->base.perplexity() / 4.7825, 1.0, 2e-3);
}

TEST_F(TrainedModelTest, ImportanceIsThatOfTheReference) {
  const Model model = open_model(place_ / "tiny-bytes-f32.gguf");
  const auto text = chunks_of(model, text_of("tiny-bytes-calibration.txt"), 128, 400);
  ASSERT_TRUE(text.has_value()) << text.error().message();
  const auto found = collect_importance(model, *text);
  ASSERT_TRUE(found.has_value()) << found.error().message();
  const auto expected = ImportanceMatrix::open(place_ / "tiny-bytes.imatrix.dat");
  ASSERT_TRUE(expected.has_value());
  ASSERT_EQ(found->entries().size(), expected->entries().size());
  double largest = 0.0;
  for (const ImatrixEntry& entry : expected->entries()) {
    const ImatrixEntry* own = found->find(entry.name);
    ASSERT_NE(own, nullptr) << entry.name;
    ASSERT_EQ(own->value_count, entry.value_count);
    std::vector<float> a(entry.value_count), b(entry.value_count);
    ASSERT_TRUE(found->read_weights(*own, 0, a).has_value());
    ASSERT_TRUE(expected->read_weights(entry, 0, b).has_value());
    for (std::size_t i = 0; i < a.size(); ++i) {
      largest = std::max(largest, std::abs(double{a[i]} / double{b[i]} - 1.0));
    }
  }
  EXPECT_LT(largest, 1e-4);
  RecordProperty("largest_difference", std::to_string(largest));
}

}  // namespace
}  // namespace ingot::test
