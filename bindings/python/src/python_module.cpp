// SPDX-License-Identifier: MIT
// The module ingot._core.
#include <ingot/version.h>

#include "python_bindings.hpp"

PYBIND11_MODULE(_core, module) {
  using namespace ingot::python;
  module.doc() = "The C++ library of Ingot; use the package ingot.";
  module.attr("version") = std::to_string(INGOT_VERSION_MAJOR) + "." +
                           std::to_string(INGOT_VERSION_MINOR) + "." +
                           std::to_string(INGOT_VERSION_PATCH);
  add_errors(module);
  add_values(module);
  add_models(module);
  add_opening(module);
#ifdef INGOT_HAS_REMOTE
  add_remote(module);
#endif
  add_codec(module);
  add_tables(module);
  add_writer(module);
  add_edit(module);
  add_split(module);
  add_convert(module);
  add_imatrix(module);
  add_quantize(module);
  add_check(module);
  add_compare(module);
  add_estimate(module);
  add_options(module);
  add_show(module);
  add_tokenizer(module);
  add_template(module);
  add_import(module);
  add_lora(module);
  add_evaluate(module);
}
