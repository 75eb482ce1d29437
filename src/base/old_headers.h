/* SPDX-License-Identifier: MIT */
/* Numbers that the headers of old systems (RHEL 7, Ubuntu 16.04) do not have yet: elf.h, linux/magic.h, sched.h. */
#ifndef NOPWATCH_BASE_OLD_HEADERS_H
#define NOPWATCH_BASE_OLD_HEADERS_H

#include <elf.h>
#include <linux/magic.h>
#include <sched.h>

#ifndef EM_RISCV
#define EM_RISCV 243
#endif
#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif
#ifndef EF_RISCV_FLOAT_ABI
#define EF_RISCV_FLOAT_ABI 0x0006
#endif
#ifndef EF_ARM_ABI_FLOAT_HARD
#define EF_ARM_ABI_FLOAT_HARD 0x400
#endif
#ifndef OVERLAYFS_SUPER_MAGIC
#define OVERLAYFS_SUPER_MAGIC 0x794c7630
#endif
#ifndef CLONE_NEWCGROUP
#define CLONE_NEWCGROUP 0x02000000
#endif
#ifndef CGROUP2_SUPER_MAGIC
#define CGROUP2_SUPER_MAGIC 0x63677270
#endif

#endif
