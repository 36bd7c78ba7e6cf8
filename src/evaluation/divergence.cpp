// SPDX-License-Identifier: MIT
#include "evaluation/divergence.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "ingot/parallel.hpp"

namespace ingot::evaluation {
namespace {

/// Parts of the vocabulary that threads work on. Their number is fixed, and they are added up in
/// their order, so that results do not depend on the number of threads.
constexpr std::size_t part_count = 16;

/// The sums of one token over one part of the vocabulary.
struct Partial {
  RunningSoftmax softmax;
  float next_logit = 0.0F;
  /// Sum of exp(base - largest of base) * (base - other); of the others only.
  double weighted_difference = 0.0;
};

/// Takes one logit in; returns the factor of sums that were taken relative to the old largest one.
double add(RunningSoftmax& softmax, float logit, std::int32_t id, double& share) noexcept {
  if (softmax.top >= 0 && !(logit > softmax.largest)) {
    share = static_cast<double>(std::exp(logit - softmax.largest));
    softmax.sum += share;
    return 1.0;
  }
  const double factor =
      softmax.top < 0 ? 0.0 : static_cast<double>(std::exp(softmax.largest - logit));
  softmax.sum = softmax.sum * factor + 1.0;
  softmax.largest = logit;
  softmax.top = id;
  share = 1.0;
  return factor;
}

/// Works on one part of the vocabulary.
class PartWork {
 public:
  PartWork(std::span<ForwardPass> passes, std::span<const Panels> states,
           std::span<const ScoredToken> tokens, std::span<Partial> partials)
      : passes_(passes), states_(states), tokens_(tokens), partials_(partials) {
    for (const ScoredToken& token : tokens) {
      if (panels_.empty() || panels_.back() != token.panel) panels_.push_back(token.panel);
    }
  }

  Result<void> run(std::size_t begin, std::size_t end) {
    std::size_t rows = end - begin;
    for (const ForwardPass& pass : passes_) {
      rows = std::min(rows, MatrixWork::tile_rows(pass.network().output));
    }
    const std::size_t panel_floats = rows * panel_tokens;
    BufferPool& buffers = passes_[0].work().buffers();
    BufferPool::Loan base(buffers, panels_.size() * panel_floats);
    BufferPool::Loan other(buffers, panels_.size() * panel_floats);
    for (std::size_t first = begin; first < end; first += rows) {
      const std::size_t count = std::min(rows, end - first);
      INGOT_TRY_VOID(make_logits(0, first, count, base.data()));
      take_base(first, count, base.data());
      for (std::size_t i = 1; i < passes_.size(); ++i) {
        INGOT_TRY_VOID(make_logits(i, first, count, other.data()));
        take_other(i, first, count, base.data(), other.data());
      }
      // The factors of this tile are used up.
    }
    return {};
  }

 private:
  Result<void> make_logits(std::size_t pass, std::size_t first, std::size_t count, float* logits) {
    const Matrix& output = passes_[pass].network().output;
    BufferPool::Loan tile(passes_[pass].work().buffers(), MatrixWork::tile_floats(output));
    INGOT_TRY(const WeightRows rows,
              passes_[pass].work().decode_tile(output, first, count, tile.data()));
    for (std::size_t i = 0; i < panels_.size(); ++i) {
      passes_[pass].make_logits(rows, first, states_[pass].row(panels_[i], 0),
                                logits + i * count * panel_tokens);
    }
    return {};
  }

  /// The logits of a token in a tile are panel_tokens apart.
  template <class Use>
  void for_each_token(std::size_t count, const Use& use) {
    std::size_t panel = 0;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (panels_[panel] != tokens_[i].panel) ++panel;
      use(i, panel * count * panel_tokens + tokens_[i].lane);
    }
  }

  void take_base(std::size_t first, std::size_t count, const float* logits) {
    shares_.resize(tokens_.size() * count);
    for_each_token(count, [&](std::size_t i, std::size_t at) {
      Partial& partial = partials_[i * passes_.size()];
      double* shares = shares_.data() + i * count;
      for (std::size_t row = 0; row < count; ++row) {
        const float logit = logits[at + row * panel_tokens];
        const double factor =
            add(partial.softmax, logit, static_cast<std::int32_t>(first + row), shares[row]);
        if (factor == 1.0) continue;
        for (std::size_t earlier = 0; earlier < row; ++earlier) shares[earlier] *= factor;
        for (std::size_t o = 1; o < passes_.size(); ++o) {
          partials_[i * passes_.size() + o].weighted_difference *= factor;
        }
      }
      take_next(i, partial, first, count, logits + at);
    });
  }

  void take_other(std::size_t pass, std::size_t first, std::size_t count, const float* base,
                  const float* other) {
    for_each_token(count, [&](std::size_t i, std::size_t at) {
      Partial& partial = partials_[i * passes_.size() + pass];
      const double* shares = shares_.data() + i * count;
      double unused = 0.0;
      for (std::size_t row = 0; row < count; ++row) {
        const float logit = other[at + row * panel_tokens];
        add(partial.softmax, logit, static_cast<std::int32_t>(first + row), unused);
        partial.weighted_difference +=
            shares[row] *
            (static_cast<double>(base[at + row * panel_tokens]) - static_cast<double>(logit));
      }
      take_next(i, partial, first, count, other + at);
    });
  }

  void take_next(std::size_t i, Partial& partial, std::size_t first, std::size_t count,
                 const float* logits) const {
    const auto next = static_cast<std::size_t>(tokens_[i].next);
    if (next >= first && next < first + count) {
      partial.next_logit = logits[(next - first) * panel_tokens];
    }
  }

  std::span<ForwardPass> passes_;
  std::span<const Panels> states_;
  std::span<const ScoredToken> tokens_;
  std::span<Partial> partials_;  // partial sums by token, then pass
  std::vector<std::size_t> panels_;
  std::vector<double> shares_;  // probabilities of the base for the present tile
};

/// Adds a later part of the vocabulary to `sum`. `base_scale` and `part_scale` are the factors of
/// the sums that belong to the base's softmax.
void join(Partial& sum, const Partial& part, double base_scale, double part_scale,
          bool has_next) noexcept {
  sum.weighted_difference =
      sum.weighted_difference * base_scale + part.weighted_difference * part_scale;
  if (has_next) sum.next_logit = part.next_logit;
  if (part.softmax.top < 0) return;
  if (sum.softmax.top < 0) {
    sum.softmax = part.softmax;
    return;
  }
  const float largest = std::max(sum.softmax.largest, part.softmax.largest);
  const double sum_scale = static_cast<double>(std::exp(sum.softmax.largest - largest));
  const double other_scale = static_cast<double>(std::exp(part.softmax.largest - largest));
  if (part.softmax.largest > sum.softmax.largest) sum.softmax.top = part.softmax.top;
  sum.softmax.sum = sum.softmax.sum * sum_scale + part.softmax.sum * other_scale;
  sum.softmax.largest = largest;
}

/// Joins the parts of one token: `partials` of each part, `stride` apart.
std::vector<Partial> join_parts(std::span<const Partial> partials, std::size_t stride,
                                std::size_t pass_count, std::size_t parts_with_rows,
                                std::size_t part_of_next) {
  std::vector<Partial> sums(pass_count);
  for (std::size_t part = 0; part < parts_with_rows; ++part) {
    const Partial* of_part = partials.data() + part * stride;
    double base_scale = 1.0;
    double part_scale = 1.0;
    const RunningSoftmax& base = sums[0].softmax;
    const RunningSoftmax& next = of_part[0].softmax;
    if (base.top >= 0 && next.top >= 0) {
      const float largest = std::max(base.largest, next.largest);
      base_scale = static_cast<double>(std::exp(base.largest - largest));
      part_scale = static_cast<double>(std::exp(next.largest - largest));
    }
    for (std::size_t pass = pass_count;
         pass-- > 0;) {  // the base last: the others need it as it was
      join(sums[pass], of_part[pass], base_scale, part_scale, part == part_of_next);
    }
  }
  return sums;
}

double log_sum(const RunningSoftmax& softmax) noexcept {
  return static_cast<double>(softmax.largest) + std::log(softmax.sum);
}

Result<TokenFigures> figures_of(std::span<const Partial> sums) {
  TokenFigures figures;
  const double base_log_sum = log_sum(sums[0].softmax);
  figures.base_loss = base_log_sum - static_cast<double>(sums[0].next_logit);
  bool are_numbers = std::isfinite(figures.base_loss);
  for (const Partial& sum : sums.subspan(1)) {
    const double other_log_sum = log_sum(sum.softmax);
    // Rounding can make it less than 0 where the distributions are equal but for that.
    const double divergence =
        std::max(0.0, sum.weighted_difference / sums[0].softmax.sum + other_log_sum - base_log_sum);
    figures.others.push_back({other_log_sum - static_cast<double>(sum.next_logit), divergence,
                              sum.softmax.top == sums[0].softmax.top});
    are_numbers = are_numbers && std::isfinite(figures.others.back().loss) &&
                  std::isfinite(other_log_sum + sum.weighted_difference);
  }
  if (!are_numbers) {
    return fail(Errc::weight_not_finite, "logits", "an output of a model is no finite number");
  }
  return figures;
}

}  // namespace

std::vector<ScoredToken> scored_tokens(const Batch& batch, std::span<const TokenId> ids) {
  std::vector<ScoredToken> tokens;
  for (std::size_t chunk = 0; chunk < batch.chunk_count; ++chunk) {
    for (std::size_t at = batch.chunk_tokens / 2; at + 1 < batch.chunk_tokens; ++at) {
      tokens.push_back({chunk * batch.panels_of_chunk() + at / panel_tokens, at % panel_tokens,
                        ids[chunk * batch.chunk_tokens + at + 1]});
    }
  }
  return tokens;
}

Result<std::vector<TokenFigures>> compare_predictions(std::span<ForwardPass> passes,
                                                      std::span<const Panels> states,
                                                      std::span<const ScoredToken> tokens) {
  const std::size_t vocabulary = passes[0].network().vocabulary_size();
  const std::size_t part_rows = (vocabulary + part_count - 1) / part_count;
  const std::size_t stride = tokens.size() * passes.size();
  std::vector<Partial> partials(part_count * stride);
  const auto work_on = [&](std::uint64_t first, std::uint64_t count) {
    PartWork work(passes, states, tokens,
                  std::span(partials).subspan(to_size(first) / part_rows * stride, stride));
    return work.run(to_size(first), to_size(first + count));
  };
  INGOT_TRY_VOID(passes[0].work().team().spread(vocabulary, part_rows, work_on));
  const std::size_t parts_with_rows = (vocabulary + part_rows - 1) / part_rows;
  std::vector<TokenFigures> figures;
  figures.reserve(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto sums =
        join_parts(std::span(partials).subspan(i * passes.size()), stride, passes.size(),
                   parts_with_rows, static_cast<std::size_t>(tokens[i].next) / part_rows);
    INGOT_TRY(TokenFigures of_token, figures_of(sums));
    figures.push_back(std::move(of_token));
  }
  return figures;
}

std::uint64_t comparison_memory(std::span<const ForwardPass> passes,
                                std::uint64_t token_count) noexcept {
  const std::uint64_t threads =
      std::min<std::uint64_t>(passes[0].work().team().thread_count(), part_count);
  std::uint64_t rows = 0;
  std::uint64_t tiles = 0;
  for (const ForwardPass& pass : passes) {
    rows = std::max<std::uint64_t>(rows, MatrixWork::tile_rows(pass.network().output));
    tiles = std::max<std::uint64_t>(tiles, MatrixWork::tile_floats(pass.network().output));
  }
  const std::uint64_t tokens = rounded_up(to_size(token_count), panel_tokens) + panel_tokens;
  return part_count * passes.size() * token_count * sizeof(Partial) +
         threads * (rows * tokens * (2 * sizeof(float) + sizeof(double)) + tiles * sizeof(float));
}

}  // namespace ingot::evaluation
