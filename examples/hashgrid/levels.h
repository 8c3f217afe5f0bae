/* arc example hashgrid: what each level's gradient costs, and which form serves it best.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef HASHGRID_LEVELS_H
#define HASHGRID_LEVELS_H

#include "trainer.h"

/* After trainer_forward: measures every form at each level and sets its policy; on the CPU warp,
   which has no times, policies stay. prints: the table of levels too. */
void levels_choose(trainer *t, bool prints);

#endif
