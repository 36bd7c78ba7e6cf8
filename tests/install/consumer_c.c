/* SPDX-License-Identifier: MIT */
/* Uses what a user of the installed C library would. */
#include <ingot/ingot.h>
#include <stdio.h>

int main(void) {
  printf("%s\n", ingot_version());
  return 0;
}
