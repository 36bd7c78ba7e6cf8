// SPDX-License-Identifier: MIT
// What finds the weights of the parts of a layer, and checks that their shapes go together.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "evaluation/tensor_finder.hpp"

namespace ingot::evaluation {

class PartMaker {
 public:
  PartMaker(const Model& model, const Settings& settings, Finder& finder, std::size_t index)
      : model_(model), settings_(settings), finder_(finder), index_(index) {}

  [[nodiscard]] Failure contradicts(const std::string& name, const std::string& what) const {
    return refuse(finder_.full_name(name + ".weight"), what);
  }

  /// Whether a matrix takes and makes so many features.
  [[nodiscard]] Result<void> check(const std::string& name, const Matrix& matrix,
                                   std::size_t columns, std::size_t rows) const;
  [[nodiscard]] Result<void> check(const std::string& name, const Norm& norm,
                                   std::size_t size) const;
  [[nodiscard]] Result<void> check(const std::string& name, const std::vector<float>& numbers,
                                   std::size_t size) const;

  /// A norm of so many features.
  [[nodiscard]] Result<Norm> norm_of(const std::string& name, std::size_t size);
  /// So many numbers of a tensor whose name is whole.
  [[nodiscard]] Result<std::vector<float>> numbers_of(const std::string& name, std::size_t size);
  /// A convolution of so many features.
  [[nodiscard]] Result<Convolution> convolution(const std::string& name, std::size_t features);
  /// A key with a number from 1.
  [[nodiscard]] Result<std::size_t> size_by_key(std::string_view suffix) const;

  [[nodiscard]] Result<ShortConvolution> short_convolution();
  [[nodiscard]] Result<StateSpace> state_space();
  [[nodiscard]] Result<DeltaNet> delta_net();
  [[nodiscard]] Result<TimeMix> time_mix();
  [[nodiscard]] Result<ChannelMix> channel_mix();
  /// What a layer has besides attention and a feed-forward part: an input of its own, norms of
  /// what is beside experts, and streams.
  [[nodiscard]] Result<void> add_streams(Layer& layer);

 protected:
  const Model& model_;
  const Settings& settings_;
  Finder& finder_;
  std::size_t index_;

 private:
  [[nodiscard]] Result<void> add_mix(StateSpace& made);
  [[nodiscard]] Result<void> add_delta_inputs(DeltaNet& made);
  [[nodiscard]] Result<void> add_shifts(TimeMix& made);
  [[nodiscard]] Result<void> add_corrections(TimeMix& made);
  [[nodiscard]] Result<LowRank> low_rank(const std::string& name, const std::string& bias,
                                         std::size_t rows);
  [[nodiscard]] Result<std::vector<Matrix>> chain(std::initializer_list<const char*> names,
                                                  std::size_t rows);
};

}  // namespace ingot::evaluation
