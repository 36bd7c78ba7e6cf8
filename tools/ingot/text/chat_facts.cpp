// SPDX-License-Identifier: MIT
#include "text/chat_facts.hpp"

#include <ingot/chat_profile.hpp>

namespace ingot::cli {

std::optional<ChatFacts> chat_facts(const Model& model) {
  ChatFacts facts;
  const Result<ChatTemplate> chat = ChatTemplate::make(model);
  if (!chat && chat.error().code == Errc::chat_missing) return std::nullopt;
  if (!chat) {
    facts.problem = "it cannot be read";
    return facts;
  }
  const ChatProfile profile = profile_chat(*chat);
  facts.reached_limit = profile.reached_limit;
  facts.format = profile.format;
  if (profile.failure && !facts.reached_limit) facts.problem = "it renders no conversation";
  for (std::size_t i = 0; i < chat_feature_count; ++i) {
    const auto feature = static_cast<ChatFeature>(i);
    if (profile.supports(feature)) facts.features.push_back(name_of(feature));
  }
  return facts;
}

}  // namespace ingot::cli
