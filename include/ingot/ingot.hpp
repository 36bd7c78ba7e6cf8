// SPDX-License-Identifier: MIT
// Everything of the C++ library.
#pragma once

#include "ingot/anatomy.hpp"
#include "ingot/edit.hpp"
#include "ingot/error.hpp"
#include "ingot/error_feedback.hpp"
#include "ingot/half.hpp"
#include "ingot/metadata.hpp"
#include "ingot/model.hpp"
#include "ingot/model_writer.hpp"
#include "ingot/output_file.hpp"
#include "ingot/output_set.hpp"
#include "ingot/owned_value.hpp"
#include "ingot/quantize.hpp"
#include "ingot/source.hpp"
#include "ingot/statistics.hpp"
#include "ingot/store.hpp"
#include "ingot/summary.hpp"
#include "ingot/text.hpp"
#include "ingot/types.hpp"
#include "ingot/version.h"
