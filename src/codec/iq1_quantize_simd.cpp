// SPDX-License-Identifier: MIT
#include "codec/codec.hpp"
