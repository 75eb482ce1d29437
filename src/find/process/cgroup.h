/* SPDX-License-Identifier: MIT */
/*
 * find/process: control groups (cgroups) of version 1 and 2, systemd units and containers, which are control groups with
 * names that their managers give them. Names of groups are hostile: a container may make groups of any name below its own.
 */
#ifndef NOPWATCH_FIND_PROCESS_CGROUP_H
#define NOPWATCH_FIND_PROCESS_CGROUP_H

#include "find/process/process.h"

/* How the user names a control group. */
enum nw_cgroup_kind {
	NW_CGROUP_NAMED,     /* by a path below its mount, its path, or the end of that */
	NW_CGROUP_UNIT,	     /* by a systemd unit */
	NW_CGROUP_CONTAINER, /* by the id or name of a container or pod */
	NW_CGROUP_KINDS
};
struct nw_cgroup_name {
	enum nw_cgroup_kind kind;
	const char *text;
};
/* The option of each kind, as in "--cgroup". */
extern const char *const nw_cgroup_options[NW_CGROUP_KINDS];

/*
 * Control groups, each as "HIERARCHY:PATH", as a line of /proc/PID/cgroup has it behind its first colon. The hierarchy is "" in
 * version 2, and else its controllers or "name=...". A process is in them if it is in one of them or below.
 */
struct nw_cgroups {
	struct nw_index groups;
};

/* Finds what the user has named. ENOENT: there is no such group; a usage error: several have the name. */
int nw_cgroups_find(const struct nw_cgroup_name *names, size_t count,
		    struct nw_cgroups *out, struct nw_error *err);
void nw_cgroups_free(struct nw_cgroups *cgroups);
/* Is a process in them, whose /proc/PID/cgroup has this text? */
bool nw_cgroups_have(const struct nw_cgroups *cgroups, const char *text);
/*
 * Lists the processes that are in them now, by the numbers of /proc. distinct: of processes that map the same files as code
 * only one. Processes whose mappings cannot be read are left out.
 */
int nw_cgroups_members(const struct nw_cgroups *cgroups, bool distinct, nw_pids *out,
		       struct nw_error *err);
/* Returns the path of a process in version 2, in systemd's hierarchy or in the first one where it is not "/": from the text of
 * its /proc/PID/cgroup. Points into the text; *len: its length. */
const char *nw_cgroup_path(const char *text, size_t *len);

/*
 * Enters the host's control group namespace, if the /proc of `space` shows the host's processes: the kernel shows paths as they
 * are seen from the reader's namespace. Returns what nw_cgroup_leave_host() needs; 0: nothing was changed.
 */
int nw_cgroup_enter_host(const struct nw_pid_space *space);
void nw_cgroup_leave_host(int before);

/* ---- containers (container.c) --------------------------------------------------------- */

/* A container or a pod in a path: its id, and where in the path its own group ends. */
struct nw_container_part {
	const char *id;
	size_t len, end;
	bool pod;
};

/* Finds the outermost container of a path behind `from`, or the outermost pod. */
bool nw_container_in(const char *path, size_t len, size_t from,
		     struct nw_container_part *out);
bool nw_pod_in(const char *path, size_t len, struct nw_container_part *out);

struct nw_container_names {
	nw_strings names;
	char *pod, *pod_space, *pod_uid; /* NULL: unknown */
	char *label;
};

/* Names that the runtimes' own files have for containers: read once for each id. */
struct nw_containers {
	char *host; /* the host's root, if that is not ours; NULL: ours */
	bool opened;
	struct nw_index ids;
	NW_VEC(struct nw_container_names) known; /* by the number of the id */
};

/* Returns the names of a container, valid until the next call; NULL: no memory. */
const struct nw_container_names *nw_containers_names(struct nw_containers *containers,
						     const struct nw_pid_space *space,
						     const char *id, size_t len);
/* Returns what the container of a path is called: NAME, NAMESPACE/POD/NAME, or the first digits of its id; "-" outside of
 * containers. NULL: no memory. Valid until the next call. */
const char *nw_containers_label(struct nw_containers *containers,
				const struct nw_pid_space *space, const char *path,
				size_t len);
void nw_containers_free(struct nw_containers *containers);

#endif
