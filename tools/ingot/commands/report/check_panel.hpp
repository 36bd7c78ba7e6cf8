// SPDX-License-Identifier: MIT
// The findings of `ingot check`, for panels of a report.
#pragma once

#include <functional>
#include <ingot/check.hpp>
#include <ingot/model.hpp>

#include "cli/json_stream.hpp"

namespace ingot::cli {

/// An array of the findings of the wanted rules, without reading weights.
void write_findings(JsonStream& json, const Model& model,
                    const std::function<bool(const CheckRule&)>& is_wanted);

/// The member "findings": those of all rules but the ones about chat templates, which are beside
/// the template. null for a model of another format.
void write_check_panel(JsonStream& json, const Model& model, bool is_foreign);

}  // namespace ingot::cli
