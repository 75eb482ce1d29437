/* SPDX-License-Identifier: MIT */
/*
 * kernel: with tracefs and steps, the only rooms that touch tracefs and /run/nopwatch. Each header has one subject.
 */
#ifndef NOPWATCH_KERNEL_H
#define NOPWATCH_KERNEL_H

#include "nopwatch/features.h"
#include "nopwatch/inventory.h"
#include "nopwatch/session.h"
#include "nopwatch/tracefs.h"

#endif
