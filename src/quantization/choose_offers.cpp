// SPDX-License-Identifier: MIT
#include "quantization/choose_offers.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>

namespace ingot::quantization {
namespace {

using Offers = std::span<const std::vector<TypeOffer>>;

/// Exchanges of two tensors at most; few models need more than a dozen.
constexpr int max_exchanges = 256;

/// A saving must be more than rounding.
constexpr double least_saving = 1e-12;

/// A step along the hull of one tensor's offers.
struct Step {
  std::size_t tensor;
  std::size_t offer;
  std::uint64_t added_bytes;
  double saved_per_byte;
};

double slope(const TypeOffer& from, const TypeOffer& to) noexcept {
  return (from.cost - to.cost) / static_cast<double>(to.size_bytes - from.size_bytes);
}

/// The offers on the lower convex hull, smallest first: each has more bytes and costs less than
/// the one before, and the gain for a byte falls from step to step.
std::vector<std::size_t> hull_of(const std::vector<TypeOffer>& offers) {
  std::vector<std::size_t> order(offers.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (offers[a].size_bytes != offers[b].size_bytes) {
      return offers[a].size_bytes < offers[b].size_bytes;
    }
    return offers[a].cost != offers[b].cost ? offers[a].cost < offers[b].cost : a < b;
  });
  std::vector<std::size_t> hull;
  for (const std::size_t next : order) {
    if (!hull.empty() && offers[next].cost >= offers[hull.back()].cost) continue;
    if (!hull.empty() && offers[next].size_bytes == offers[hull.back()].size_bytes) continue;
    while (hull.size() > 1 && slope(offers[hull[hull.size() - 2]], offers[hull.back()]) <=
                                  slope(offers[hull.back()], offers[next])) {
      hull.pop_back();
    }
    hull.push_back(next);
  }
  return hull;
}

/// A change of one tensor from its present offer to another.
struct Move {
  std::size_t tensor;
  std::size_t offer;
  std::int64_t added_bytes;
  double saved;
};

/// The choice as it grows.
class Choice {
 public:
  explicit Choice(Offers offers) : offers_(offers), positions_(offers.size()) {}

  Result<void> walk_hulls(std::uint64_t budget_bytes) {
    budget_bytes_ = budget_bytes;
    std::vector<Step> steps;
    for (std::size_t i = 0; i < offers_.size(); ++i) {
      const std::vector<std::size_t> hull = hull_of(offers_[i]);
      positions_[i] = hull[0];
      used_bytes_ += offers_[i][hull[0]].size_bytes;
      for (std::size_t j = 1; j < hull.size(); ++j) {
        const TypeOffer& from = offers_[i][hull[j - 1]];
        const TypeOffer& to = offers_[i][hull[j]];
        steps.push_back({i, hull[j], to.size_bytes - from.size_bytes, slope(from, to)});
      }
    }
    if (used_bytes_ > budget_bytes_) {
      return fail(Errc::target_too_small, {},
                  "the smallest choice has " + std::to_string(used_bytes_) + " bytes where " +
                      std::to_string(budget_bytes_) + " are left for it");
    }
    // Slopes fall along each hull, so a tensor's steps stay in their order.
    std::ranges::stable_sort(steps, std::greater(), &Step::saved_per_byte);
    take(steps);
    return {};
  }

  /// Offers that fit, on a hull or not, until none saves anything.
  void fill() {
    for (bool is_changed = true; is_changed;) {
      std::vector<Move> moves = find_moves();
      std::erase_if(moves, [&](const Move& move) {
        return move.saved <= 0.0 || move.added_bytes > free_bytes();
      });
      std::ranges::stable_sort(moves, std::greater<>(), &Move::saved);
      std::vector<bool> is_moved(offers_.size(), false);
      is_changed = !moves.empty();
      for (const Move& move : moves) {
        if (is_moved[move.tensor] || move.added_bytes > free_bytes()) continue;
        is_moved[move.tensor] = true;
        make(move);
      }
    }
  }

  /// The exchange of two tensors that saves most, as often as one saves.
  void exchange() {
    for (int i = 0; i < max_exchanges && exchange_once(); ++i) fill();
  }

  [[nodiscard]] ChosenOffers result() const {
    double cost = 0.0;
    for (std::size_t i = 0; i < offers_.size(); ++i) cost += offers_[i][positions_[i]].cost;
    return {positions_, {cost, std::min(bound_, cost)}};
  }

 private:
  [[nodiscard]] std::int64_t free_bytes() const noexcept {
    return static_cast<std::int64_t>(budget_bytes_ - used_bytes_);
  }

  /// The steps of all hulls, best first.
  void take(std::span<const Step> steps) {
    for (std::size_t i = 0; i < offers_.size(); ++i) bound_ += offers_[i][positions_[i]].cost;
    std::uint64_t relaxed_bytes = budget_bytes_ - used_bytes_;
    std::vector<bool> is_stuck(offers_.size(), false);
    for (const Step& step : steps) {
      const std::uint64_t part = std::min(relaxed_bytes, step.added_bytes);
      bound_ -= step.saved_per_byte * static_cast<double>(part);
      relaxed_bytes -= part;
      if (is_stuck[step.tensor]) continue;
      if (step.added_bytes > budget_bytes_ - used_bytes_) {
        is_stuck[step.tensor] = true;  // its later steps are larger still
        continue;
      }
      used_bytes_ += step.added_bytes;
      positions_[step.tensor] = step.offer;
    }
  }

  [[nodiscard]] std::vector<Move> find_moves() const {
    std::vector<Move> moves;
    for (std::size_t i = 0; i < offers_.size(); ++i) {
      const TypeOffer& from = offers_[i][positions_[i]];
      for (std::size_t j = 0; j < offers_[i].size(); ++j) {
        const TypeOffer& to = offers_[i][j];
        if (j == positions_[i]) continue;
        moves.push_back(
            {i, j,
             static_cast<std::int64_t>(to.size_bytes) - static_cast<std::int64_t>(from.size_bytes),
             from.cost - to.cost});
      }
    }
    return moves;
  }

  void make(const Move& move) {
    positions_[move.tensor] = move.offer;
    used_bytes_ =
        static_cast<std::uint64_t>(static_cast<std::int64_t>(used_bytes_) + move.added_bytes);
  }

  /// Pairs each move that saves bytes with the best move of another tensor that fits then. Walks
  /// the moves by rising size and remembers the two best moves of different tensors.
  bool exchange_once() {
    std::vector<Move> moves = find_moves();
    std::ranges::stable_sort(moves, std::less<>(), &Move::added_bytes);
    using Best = std::array<const Move*, 2>;
    std::vector<Best> best_up_to(moves.size());
    Best best{};
    for (std::size_t i = 0; i < moves.size(); ++i) {
      const Move* move = &moves[i];
      if (best[0] == nullptr || move->saved > best[0]->saved) {
        if (best[0] == nullptr || best[0]->tensor != move->tensor) best[1] = best[0];
        best[0] = move;
      } else if (move->tensor != best[0]->tensor &&
                 (best[1] == nullptr || move->saved > best[1]->saved)) {
        best[1] = move;
      }
      best_up_to[i] = best;
    }
    const Move* down = nullptr;
    const Move* up = nullptr;
    for (const Move& move : moves) {
      if (move.added_bytes >= 0) break;
      const auto beyond = std::ranges::upper_bound(moves, free_bytes() - move.added_bytes,
                                                   std::less<>(), &Move::added_bytes);
      if (beyond == moves.begin()) continue;
      const Best& fitting = best_up_to[static_cast<std::size_t>(beyond - moves.begin()) - 1];
      const Move* other =
          fitting[0] != nullptr && fitting[0]->tensor != move.tensor ? fitting[0] : fitting[1];
      if (other == nullptr) continue;
      if (down == nullptr || move.saved + other->saved > down->saved + up->saved) {
        down = &move;
        up = other;
      }
    }
    const double least = least_saving * std::abs(bound_);
    if (down == nullptr || !(down->saved + up->saved > least)) return false;
    make(*down);
    make(*up);
    return true;
  }

  Offers offers_;
  std::vector<std::size_t> positions_;
  std::uint64_t budget_bytes_ = 0;
  std::uint64_t used_bytes_ = 0;
  double bound_ = 0.0;
};

}  // namespace

Result<ChosenOffers> choose_offers(Offers offers, std::uint64_t budget_bytes) {
  Choice choice(offers);
  INGOT_TRY_VOID(choice.walk_hulls(budget_bytes));
  choice.fill();
  choice.exchange();
  return choice.result();
}

}  // namespace ingot::quantization
