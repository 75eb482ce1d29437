/* SPDX-License-Identifier: MIT */
/*
 * kernel: includes the headers of the only room that touches tracefs and /run/nopwatch. Each of them has one subject.
 */
#ifndef NOPWATCH_KERNEL_H
#define NOPWATCH_KERNEL_H

#include "nopwatch/cleanup.h"
#include "nopwatch/features.h"
#include "nopwatch/inventory.h"
#include "nopwatch/session.h"
#include "nopwatch/tracefs.h"

#endif
