// SPDX-License-Identifier: MIT
// generate MODEL TEXT [OPTION...]: goes on with a text, or answers it, by the model itself. A proof
// that the library has all that an engine needs (tokenizer, template, weights of any type from the
// mapped file), not an engine: weights are decoded anew for each token.
//
//   --tokens N       as many at most; default: 32
//   --temperature T  0, the default: always the most likely token
//   --top-p P        choose among the most likely tokens that together have a share of P; default:
//   1
//   --seed N         of the random choices; default: 1
//   --chat           TEXT is a message, put into the model's template
//   --ids            print token ids instead of text: those of the prompt, then the new ones
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ingot/chat_prompt.hpp>
#include <ingot/ingot.hpp>
#include <ingot/metadata_keys.hpp>
#include <ingot/parallel.hpp>
#include <ingot/text.hpp>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace {

using ingot::Errc;
using ingot::fail;
using ingot::Result;
using ingot::TokenId;
using Floats = std::vector<float>;

/// The architectures that this example knows: they differ in little.
struct Kind {
  std::string_view name;
  bool rotates_neighbours;  ///< Elements 0 and 1 of a head, not 0 and the first of the second half.
};
constexpr Kind kinds[] = {{"llama", true}, {"qwen2", false}, {"qwen3", false}};

/// The numbers of a network.
struct Sizes {
  Kind kind = {};
  std::size_t width = 0;
  std::size_t layers = 0;
  std::size_t heads = 0;
  std::size_t kv_heads = 0;   ///< Groups of heads share keys and values.
  std::size_t head_size = 0;  ///< Elements of a query, key or value of a head.
  std::size_t inner = 0;      ///< The width of the feed-forward part.
  std::size_t context = 0;    ///< Tokens
  double rope_base = 0.0;
  double rope_factor = 1.0;  ///< Positions are divided by it.
  float epsilon = 0.0F;      ///< The epsilon of the norms.
};

/// A matrix in the file, and a bias for each row where there is one.
struct Matrix {
  const ingot::TensorInfo* tensor = nullptr;
  Floats bias = {};
};

struct Layer {
  Floats attention_norm;
  Matrix query, key, value, output;
  Floats query_norm, key_norm;  ///< Empty in most architectures.
  Floats inner_norm;
  Matrix gate, up, down;
};

struct Network {
  Sizes sizes;
  Matrix embedding;
  std::vector<Layer> layers;
  Floats output_norm;
  Matrix output;
  Floats rope_divisors;  ///< The divisors of the frequencies; may be empty.
};

/// Takes weights from a model by name and checks their shapes: a file may claim anything.
class Weights {
 public:
  explicit Weights(const ingot::Model& model) : model_(model) {}

  /// Empty if the tensor is optional and not there.
  Result<Floats> vector(const std::string& name, std::size_t size, bool is_optional = false) {
    INGOT_TRY(const ingot::TensorInfo* tensor, find(name, size, 1, is_optional));
    Floats floats;
    if (tensor == nullptr) return floats;
    floats.resize(size);
    INGOT_TRY_VOID(model_.dequantize_rows(*tensor, 0, 1, floats));
    return floats;
  }

  /// NAME.weight, and NAME.bias if there is one.
  Result<Matrix> matrix(const std::string& name, std::size_t columns, std::size_t rows) {
    Matrix matrix;
    INGOT_TRY(matrix.tensor, find(name + ".weight", columns, rows, false));
    INGOT_TRY(matrix.bias, vector(name + ".bias", rows, true));
    return matrix;
  }

  /// A tensor that nothing has asked for would change the results.
  [[nodiscard]] bool are_all_used() const { return used_ == model_.tensors().size(); }

 private:
  Result<const ingot::TensorInfo*> find(const std::string& name, std::size_t columns,
                                        std::size_t rows, bool is_optional) {
    const ingot::TensorInfo* tensor = model_.find_tensor(name);
    if (tensor == nullptr && is_optional) return nullptr;
    if (tensor == nullptr) return fail(Errc::tensor_not_found, name);
    if (tensor->row_elements() != columns || tensor->element_count != columns * rows) {
      return fail(Errc::invalid_argument, name, "its shape contradicts the keys");
    }
    ++used_;
    return tensor;
  }

  const ingot::Model& model_;
  std::size_t used_ = 0;
};

Result<Sizes> read_sizes(const ingot::Model& model) {
  namespace suffixes = ingot::suffixes;
  INGOT_TRY(const auto name, model.get<std::string_view>(ingot::keys::general_architecture));
  Sizes sizes;
  for (const Kind& kind : kinds) {
    if (kind.name == name) sizes.kind = kind;
  }
  if (sizes.kind.name.empty()) {
    return fail(Errc::invalid_argument, std::string(name),
                "this example knows llama, qwen2 and qwen3");
  }
  const auto key = [&](std::string_view suffix) {
    return std::string(name) + "." + std::string(suffix);
  };
  // 24 bits, so that no product of sizes is too large for 64.
  const auto read = [&](std::string_view suffix, std::size_t& size) -> Result<void> {
    INGOT_TRY(size, model.get<std::uint32_t>(key(suffix)));
    if (size > 0 && size < (std::size_t{1} << 24)) return {};
    return fail(Errc::invalid_argument, key(suffix), "it is out of range");
  };
  INGOT_TRY_VOID(read(suffixes::embedding_length, sizes.width));
  INGOT_TRY_VOID(read(suffixes::block_count, sizes.layers));
  INGOT_TRY_VOID(read(suffixes::attention_head_count, sizes.heads));
  INGOT_TRY_VOID(read(suffixes::feed_forward_length, sizes.inner));
  INGOT_TRY_VOID(read(suffixes::context_length, sizes.context));
  sizes.kv_heads = model.get_or(key(suffixes::attention_head_count_kv), std::uint32_t{0});
  if (sizes.kv_heads == 0) sizes.kv_heads = sizes.heads;
  sizes.head_size = sizes.width / sizes.heads;
  if (model.find(key(suffixes::attention_key_length)) != nullptr) {
    INGOT_TRY_VOID(read(suffixes::attention_key_length, sizes.head_size));
  }
  const auto rotated = model.get_or(key(suffixes::rope_dimension_count), sizes.head_size);
  const auto scaling = model.get_or(key(suffixes::rope_scaling_type), std::string_view("linear"));
  if (sizes.heads % sizes.kv_heads != 0 || sizes.head_size % 2 != 0 || sizes.head_size == 0 ||
      rotated != sizes.head_size || (scaling != "linear" && scaling != "none")) {
    return fail(Errc::invalid_argument, std::string(name), "such heads are not known here");
  }
  sizes.rope_base = model.get_or(key(suffixes::rope_freq_base), 10000.0);
  const double factor = model.get_or(key(suffixes::rope_scaling_factor), 0.0);
  if (scaling == "linear" && factor > 0.0) sizes.rope_factor = factor;
  INGOT_TRY(const double epsilon,
            model.get<double>(key(suffixes::attention_layer_norm_rms_epsilon)));
  sizes.epsilon = static_cast<float>(epsilon);
  return sizes;
}

Result<Layer> read_layer(Weights& weights, const Sizes& sizes, std::size_t index) {
  const std::string prefix = "blk." + std::to_string(index) + ".";
  const std::size_t width = sizes.width;
  const std::size_t queries = sizes.heads * sizes.head_size;
  const std::size_t keys = sizes.kv_heads * sizes.head_size;
  Layer layer;
  INGOT_TRY(layer.attention_norm, weights.vector(prefix + "attn_norm.weight", width));
  INGOT_TRY(layer.query, weights.matrix(prefix + "attn_q", width, queries));
  INGOT_TRY(layer.key, weights.matrix(prefix + "attn_k", width, keys));
  INGOT_TRY(layer.value, weights.matrix(prefix + "attn_v", width, keys));
  INGOT_TRY(layer.query_norm, weights.vector(prefix + "attn_q_norm.weight", sizes.head_size, true));
  INGOT_TRY(layer.key_norm, weights.vector(prefix + "attn_k_norm.weight", sizes.head_size, true));
  INGOT_TRY(layer.output, weights.matrix(prefix + "attn_output", queries, width));
  INGOT_TRY(layer.inner_norm, weights.vector(prefix + "ffn_norm.weight", width));
  INGOT_TRY(layer.gate, weights.matrix(prefix + "ffn_gate", width, sizes.inner));
  INGOT_TRY(layer.up, weights.matrix(prefix + "ffn_up", width, sizes.inner));
  INGOT_TRY(layer.down, weights.matrix(prefix + "ffn_down", sizes.inner, width));
  return layer;
}

Result<Network> read_network(const ingot::Model& model, std::size_t vocabulary) {
  Network network;
  INGOT_TRY(network.sizes, read_sizes(model));
  const Sizes& sizes = network.sizes;
  Weights weights(model);
  INGOT_TRY(network.embedding, weights.matrix("token_embd", sizes.width, vocabulary));
  for (std::size_t i = 0; i < sizes.layers; ++i) {
    INGOT_TRY(Layer layer, read_layer(weights, sizes, i));
    network.layers.push_back(std::move(layer));
  }
  INGOT_TRY(network.output_norm, weights.vector("output_norm.weight", sizes.width));
  INGOT_TRY(network.rope_divisors, weights.vector("rope_freqs.weight", sizes.head_size / 2, true));
  network.output = network.embedding;  // of most small models, this is one matrix
  if (model.find_tensor("output.weight") != nullptr) {
    INGOT_TRY(network.output, weights.matrix("output", sizes.width, vocabulary));
  }
  if (weights.are_all_used()) return network;
  return fail(Errc::invalid_argument, std::string(sizes.kind.name),
              "the model has tensors that this example does not know");
}

void add(Floats& states, const Floats& added) {
  for (std::size_t i = 0; i < added.size(); ++i) states[i] += added[i];
}

/// RMS norm of every run of as many elements as there are weights.
void normalise(Floats& x, const Floats& weights, float epsilon) {
  const std::size_t count = weights.size();
  for (float* run = x.data(); run != x.data() + x.size(); run += count) {
    const float squares = std::inner_product(run, run + count, run, 0.0F);
    const float factor = 1.0F / std::sqrt(squares / static_cast<float>(count) + epsilon);
    for (std::size_t i = 0; i < count; ++i) run[i] *= factor * weights[i];
  }
}

/// Turns scores into shares that add up to 1.
void apply_softmax(Floats& scores) {
  const float largest = *std::max_element(scores.begin(), scores.end());
  float sum = 0.0F;
  for (float& score : scores) sum += score = std::exp(score - largest);
  for (float& score : scores) score /= sum;
}

/// A network at work, with the keys and values of all tokens that it has seen.
class Engine {
 public:
  /// @param capacity  tokens
  Engine(const ingot::Model& model, const Network& network, std::size_t capacity)
      : model_(model), network_(network), sizes_(network.sizes) {
    const std::size_t floats = capacity * sizes_.kv_heads * sizes_.head_size;
    keys_.assign(sizes_.layers, Floats(floats));
    values_.assign(sizes_.layers, Floats(floats));
  }

  /// Reads tokens behind those before, within the capacity, and returns the logits of the next one.
  Result<Floats> read(std::span<const TokenId> ids) {
    const std::size_t width = sizes_.width;
    Floats states(ids.size() * width);
    for (std::size_t t = 0; t < ids.size(); ++t) {
      INGOT_TRY_VOID(model_.dequantize_rows(*network_.embedding.tensor,
                                            static_cast<std::uint64_t>(ids[t]), 1,
                                            std::span(states).subspan(t * width, width)));
    }
    for (std::size_t i = 0; i < sizes_.layers; ++i) INGOT_TRY_VOID(pass_layer(i, states));
    position_ += ids.size();
    Floats last(states.end() - static_cast<std::ptrdiff_t>(width), states.end());
    normalise(last, network_.output_norm, sizes_.epsilon);
    return multiply(network_.output, last);
  }

 private:
  Result<void> pass_layer(std::size_t index, Floats& states) {
    const Layer& layer = network_.layers[index];
    Floats normed = states;
    normalise(normed, layer.attention_norm, sizes_.epsilon);
    INGOT_TRY(Floats queries, multiply(layer.query, normed));
    INGOT_TRY(Floats keys, multiply(layer.key, normed));
    INGOT_TRY(const Floats values, multiply(layer.value, normed));
    prepare_heads(queries, sizes_.heads, layer.query_norm);
    prepare_heads(keys, sizes_.kv_heads, layer.key_norm);
    const std::size_t row = sizes_.kv_heads * sizes_.head_size;
    const auto at = static_cast<std::ptrdiff_t>(position_ * row);
    std::copy(keys.begin(), keys.end(), keys_[index].begin() + at);
    std::copy(values.begin(), values.end(), values_[index].begin() + at);
    INGOT_TRY(const Floats mixed, attend(index, queries));
    INGOT_TRY(const Floats attended, multiply(layer.output, mixed));
    add(states, attended);

    normed = states;
    normalise(normed, layer.inner_norm, sizes_.epsilon);
    INGOT_TRY(Floats inner, multiply(layer.gate, normed));
    INGOT_TRY(const Floats up, multiply(layer.up, normed));
    for (std::size_t i = 0; i < inner.size(); ++i) {
      inner[i] = inner[i] / (1.0F + std::exp(-inner[i])) * up[i];
    }
    INGOT_TRY(const Floats down, multiply(layer.down, inner));
    add(states, down);
    return {};
  }

  /// matrix * x for each token of x. Rows are decoded by all cores, each once for all tokens.
  Result<Floats> multiply(const Matrix& matrix, const Floats& x) const {
    const std::size_t columns = matrix.tensor->row_elements();
    const std::size_t rows = matrix.tensor->element_count / columns;
    const std::size_t tokens = x.size() / columns;
    Floats y(tokens * rows);
    const auto multiply_rows = [&](std::uint64_t first, std::uint64_t count) -> Result<void> {
      Floats weights(columns);
      for (std::uint64_t r = first; r < first + count; ++r) {
        INGOT_TRY_VOID(model_.dequantize_rows(*matrix.tensor, r, 1, weights));
        for (std::size_t t = 0; t < tokens; ++t) {
          const float bias = matrix.bias.empty() ? 0.0F : matrix.bias[r];
          y[t * rows + r] =
              std::inner_product(weights.begin(), weights.end(), x.data() + t * columns, bias);
        }
      }
      return {};
    };
    INGOT_TRY_VOID(ingot::spread(rows, 64, /*all cores*/ 0, multiply_rows));
    return y;
  }

  /// Norm and rotation of queries or keys.
  void prepare_heads(Floats& elements, std::size_t heads, const Floats& norm) const {
    if (!norm.empty()) normalise(elements, norm, sizes_.epsilon);
    for (std::size_t i = 0; i < elements.size() / sizes_.head_size; ++i) {
      rotate(elements.data() + i * sizes_.head_size, position_ + i / heads);
    }
  }

  void rotate(float* head, std::size_t position) const {
    const std::size_t pairs = sizes_.head_size / 2;
    for (std::size_t i = 0; i < pairs; ++i) {
      const double exponent = -static_cast<double>(i) / static_cast<double>(pairs);
      double angle =
          static_cast<double>(position) / sizes_.rope_factor * std::pow(sizes_.rope_base, exponent);
      if (!network_.rope_divisors.empty()) {
        angle /= static_cast<double>(network_.rope_divisors[i]);
      }
      const auto cosine = static_cast<float>(std::cos(angle));
      const auto sine = static_cast<float>(std::sin(angle));
      float& a = head[sizes_.kind.rotates_neighbours ? 2 * i : i];
      float& b = head[sizes_.kind.rotates_neighbours ? 2 * i + 1 : i + pairs];
      const float turned = a * cosine - b * sine;
      b = a * sine + b * cosine;
      a = turned;
    }
  }

  /// The values that each head of each token looks at, mixed.
  Result<Floats> attend(std::size_t layer, const Floats& queries) const {
    const std::size_t size = sizes_.head_size;
    Floats mixed(queries.size());
    const auto work = [&](std::uint64_t item, std::uint64_t) -> Result<void> {
      const std::size_t position = position_ + item / sizes_.heads;
      const std::size_t kv_head = item % sizes_.heads / (sizes_.heads / sizes_.kv_heads);
      const float* query = queries.data() + item * size;
      const auto of_token = [&](const std::vector<Floats>& cache, std::size_t t) {
        return cache[layer].data() + (t * sizes_.kv_heads + kv_head) * size;
      };
      Floats shares(position + 1);
      for (std::size_t t = 0; t < shares.size(); ++t) {
        shares[t] = std::inner_product(query, query + size, of_token(keys_, t), 0.0F) /
                    std::sqrt(static_cast<float>(size));
      }
      apply_softmax(shares);
      float* result = mixed.data() + item * size;
      for (std::size_t t = 0; t < shares.size(); ++t) {
        const float* value = of_token(values_, t);
        for (std::size_t i = 0; i < size; ++i) result[i] += shares[t] * value[i];
      }
      return {};
    };
    INGOT_TRY_VOID(ingot::spread(queries.size() / size, 1, /*all cores*/ 0, work));
    return mixed;
  }

  const ingot::Model& model_;
  const Network& network_;
  const Sizes& sizes_;
  std::vector<Floats> keys_;  ///< The keys of each layer, by token, then head.
  std::vector<Floats> values_;
  std::size_t position_ = 0;  ///< Tokens that were read.
};

struct Options {
  std::string model;
  std::string text;
  std::size_t tokens = 32;
  float temperature = 0.0F;
  float top_p = 1.0F;
  std::uint32_t seed = 1;
  bool is_chat = false;
  bool prints_ids = false;
};

TokenId choose_token(Floats logits, const Options& options, std::mt19937& random) {
  if (options.temperature <= 0.0F) {
    return static_cast<TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  }
  for (float& logit : logits) logit /= options.temperature;
  apply_softmax(logits);
  std::vector<std::pair<float, TokenId>> order;  // most likely first, then the lower id
  for (std::size_t i = 0; i < logits.size(); ++i) {
    order.emplace_back(-logits[i], static_cast<TokenId>(i));
  }
  std::sort(order.begin(), order.end());
  float sum = 0.0F;
  std::size_t count = 0;
  while (count < order.size() && (count == 0 || sum < options.top_p)) sum -= order[count++].first;
  // Drawn by hand, as the distributions of standard libraries differ.
  float point = sum * static_cast<float>(static_cast<double>(random()) / 4294967296.0);
  std::size_t chosen = 0;
  while (chosen + 1 < count && point >= -order[chosen].first) point += order[chosen++].first;
  return order[chosen].second;
}

Result<std::vector<TokenId>> make_prompt(const ingot::Model& model,
                                         const ingot::Tokenizer& tokenizer,
                                         const Options& options) {
  if (!options.is_chat) return tokenizer.encode(options.text);
  const auto messages = ingot::ChatValue::list({ingot::chat_message("user", options.text)});
  INGOT_TRY(const auto chat, ingot::ChatTemplate::make(model));
  INGOT_TRY(auto prompt, ingot::encode_chat(tokenizer, chat, messages));
  return std::move(prompt.ids);
}

/// A model may write anything; a terminal must not obey it.
void print_text(const std::string& text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::fputs(ingot::escape(text.substr(begin, end - begin)).c_str(), stdout);
    if (end < text.size()) std::fputc('\n', stdout);
    begin = end + 1;
  }
  std::fflush(stdout);
}

Result<void> generate(const Options& options) {
  INGOT_TRY(const ingot::Model model, ingot::Model::open(options.model));
  INGOT_TRY(const ingot::Tokenizer tokenizer, ingot::Tokenizer::make(model));
  INGOT_TRY(const Network network, read_network(model, tokenizer.size()));
  INGOT_TRY(std::vector<TokenId> ids, make_prompt(model, tokenizer, options));
  if (ids.empty() || ids.size() >= network.sizes.context) {
    return fail(Errc::invalid_argument, "TEXT", "it must fill a part of the model's context");
  }
  const std::size_t end = ids.size() + std::min(options.tokens, network.sizes.context - ids.size());
  const auto print = [](TokenId id) { std::printf("%d\n", static_cast<int>(id)); };
  if (options.prints_ids) std::for_each(ids.begin(), ids.end(), print);

  Engine engine(model, network, end);
  ingot::StreamDecoder decoder(tokenizer, /*show_special=*/false);
  std::mt19937 random(options.seed);
  std::span<const TokenId> unread = ids;
  while (ids.size() < end) {
    INGOT_TRY(Floats logits, engine.read(unread));
    const TokenId next = choose_token(std::move(logits), options, random);
    if (tokenizer.is_end_of_generation(next)) break;
    ids.push_back(next);
    unread = std::span(ids).last(1);
    INGOT_TRY(const std::string text, decoder.push(next));
    options.prints_ids ? print(next) : print_text(text);
  }
  if (!options.prints_ids) print_text(decoder.finish() + "\n");
  return {};
}

template <class Number>
bool read_number(const char* text, Number& number) {
  if constexpr (std::is_floating_point_v<Number>) {
    return ingot::read_float(text, number);
  } else {
    const char* end = text + std::string_view(text).size();
    const auto [rest, error] = std::from_chars(text, end, number);
    return error == std::errc() && rest == end;
  }
}

bool read_arguments(int argc, char** argv, Options& options) {
  if (argc < 3) return false;
  options.model = argv[1];
  options.text = argv[2];
  for (int i = 3; i < argc; ++i) {
    const std::string_view name = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    const bool has_number = (name == "--tokens" && read_number(value, options.tokens)) ||
                            (name == "--temperature" && read_number(value, options.temperature)) ||
                            (name == "--top-p" && read_number(value, options.top_p)) ||
                            (name == "--seed" && read_number(value, options.seed));
    if (has_number) ++i;
    if (name == "--chat") options.is_chat = true;
    if (name == "--ids") options.prints_ids = true;
    if (!has_number && name != "--chat" && name != "--ids") return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!read_arguments(argc, argv, options)) {
    std::fputs("generate MODEL TEXT [OPTION...]: the head of its source lists them\n", stderr);
    return 2;
  }
  const Result<void> done = generate(options);
  if (done) return 0;
  std::fprintf(stderr, "%s\n", done.error().message().c_str());
  return 3;
}
