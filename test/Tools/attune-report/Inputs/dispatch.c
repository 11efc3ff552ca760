// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedules.h"
#include <stdio.h>

int main(void) {
  const struct attune_schedule *schedule = attune_select_f(1, 4, 400, 400);
  printf("400: %s, %d\n", schedule->options, schedule->block_m);
  schedule = attune_select_f(1, 4, 401, 401);
  printf("401: %s, %d\n", schedule->options, schedule->block_m);
  printf("other: %s\n", attune_select_g(1, 4, 100, 100)->options);
  return 0;
}
