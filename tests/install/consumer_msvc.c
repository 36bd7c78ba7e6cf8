/* SPDX-License-Identifier: MIT */
/* Uses ingot.dll as a program of MSVC does, by ingot.lib and the calling convention of Windows, with no library of C:
   ends with 0 if model.gguf of this folder has tensors. */
#include "ingot/ingot.h"

int _fltused;  /* what the linker wants for float, from any library */

int start(void) {
  ingot_model* model = 0;
  size_t count;
  if (ingot_open("model.gguf", 0, &model, 0) != INGOT_OK) return 1;
  count = ingot_tensor_count(model);
  ingot_close(model);
  return count > 0 ? 0 : 2;
}
