// SPDX-License-Identifier: MIT
// The pictures that the engine makes of an image before its encoder sees them.
#pragma once

#include "model/projectors/image_types.hpp"

namespace ingot::detail {

/// An image after it was cut.
struct Cut {
  ImageSize whole = {};  ///< 0 x 0: there is none.
  ImageSize tile = {};
  std::int64_t columns = 0;  ///< 0: there are no tiles.
  std::int64_t rows = 0;
  bool is_marked = true;  ///< The whole has its marks.
};

[[nodiscard]] Cut cut_image(const ImageSettings& set, ImageSize image);

}  // namespace ingot::detail
