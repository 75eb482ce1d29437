/* SPDX-License-Identifier: MIT */
/*
 * kernel: with tracefs, steps and cleanup, the only rooms that touch tracefs and /run/nopwatch. Each header has one subject.
 */
#ifndef NOPWATCH_KERNEL_H
#define NOPWATCH_KERNEL_H

#include "nopwatch/cleanup.h"
#include "nopwatch/features.h"
#include "nopwatch/inventory.h"
#include "nopwatch/session.h"
#include "nopwatch/tracefs.h"

#endif
