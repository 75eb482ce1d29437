// SPDX-License-Identifier: MIT
/*
 * as_user UID CAPABILITY,CAPABILITY COMMAND...: runs the command as that user, with these capabilities (their numbers; "": none) and
 * no others. Ends with 125 if the kernel cannot hand them over (before 4.3).
 */
#include <grp.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	AMBIENT = 47, /* PR_CAP_AMBIENT */
	RAISE = 2
};

int main(int argc, char **argv)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0, 0, 0}, {0, 0, 0}};
	uint64_t all = 0;

	if (argc < 4)
		return 2;
	const unsigned int user = (unsigned int)atoi(argv[1]);
	for (char *one = strtok(argv[2], ","); one; one = strtok(NULL, ","))
		all |= UINT64_C(1) << atoi(one);
	for (int i = 0; i < 2; i++)
		data[i].effective = data[i].permitted = data[i].inheritable =
			(uint32_t)(all >> 32 * i);
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0 || setgroups(0, NULL) != 0 ||
	    setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0 ||
	    syscall(SYS_capset, &header, data) != 0) {
		perror("as_user");
		return 126;
	}
	for (int i = 0; i < 64; i++)
		if (all >> i & 1 && prctl(AMBIENT, RAISE, i, 0, 0) != 0)
			return 125;
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}
