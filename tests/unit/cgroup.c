// SPDX-License-Identifier: MIT
/* Control groups in the text of /proc/PID/cgroup, and containers in their paths. */
#include "find/process/cgroup.h"
#include "unit.h"

#define ID   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID2  "f123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID  "b3b2a1c0-1111-2222-3333-444455556666"
#define UID_ "b3b2a1c0_1111_2222_3333_444455556666"

static bool has(const char *target, const char *text)
{
	struct nw_cgroups cgroups = {0};

	ck_assert_int_ge(nw_index_add(&cgroups.groups, target, strlen(target)), 0);
	bool found = nw_cgroups_have(&cgroups, text);
	nw_cgroups_free(&cgroups);
	return found;
}

START_TEST(a_process_is_in_a_group_and_those_above)
{
	const char *text =
		"4:memory:/a/b\n2:cpu,cpuacct:/\n1:name=systemd:/s.slice/x:y\n0::/v2/c\n";

	ck_assert(has("memory:/a/b", text));
	ck_assert(has("memory:/a", text));
	ck_assert(has("memory:/", text));
	ck_assert(has(":/", text));
	ck_assert(has(":/v2", text));
	ck_assert(has("cpu,cpuacct:/", text));
	ck_assert(has("name=systemd:/s.slice/x:y", text));
	ck_assert(!has("memory:/a/b/c", text));
	ck_assert(!has("memory:/a/bb", text));
	ck_assert(!has("memory:/aa", text));
	ck_assert(!has("cpu:/", text));
	ck_assert(!has(":/a", text));
	ck_assert(!has(":/v", text));
	ck_assert(!has("name=systemd:/s.slice/x", text));
	ck_assert(!has(":/", ""));
	ck_assert(!has(":/", "no colon\n7:one colon\n\n"));
}
END_TEST

static const char *path(const char *text)
{
	static char copy[64];
	size_t len;
	const char *found = nw_cgroup_path(text, &len);

	snprintf(copy, sizeof(copy), "%.*s", (int)len, found);
	return copy;
}

START_TEST(the_path_is_of_the_hierarchy_that_says_most)
{
	ck_assert_str_eq(path("3:memory:/m\n1:name=systemd:/s\n0::/v2\n"), "/v2");
	ck_assert_str_eq(path("3:memory:/m\n1:name=systemd:/s\n0::/\n"), "/s");
	ck_assert_str_eq(path("4:cpu:/\n3:memory:/m\n2:pids:/p\n1:name=systemd:/\n0::/"),
			 "/m");
	ck_assert_str_eq(path("3:memory:/\n0::/\n"), "/");
	ck_assert_str_eq(path(""), "/");
}
END_TEST

static const char *container(const char *text)
{
	static char copy[256];
	struct nw_container_part part;

	if (!nw_container_in(text, strlen(text), 0, &part))
		return "none";
	snprintf(copy, sizeof(copy), "%.*s %s", (int)part.len, part.id, text + part.end);
	return copy;
}

START_TEST(each_runtimes_groups)
{
	ck_assert_str_eq(container("/system.slice/docker-" ID ".scope"), ID " ");
	ck_assert_str_eq(container("/docker/" ID "/init"), ID " /init");
	ck_assert_str_eq(container("/machine.slice/libpod-" ID ".scope/container"),
			 ID " /container");
	ck_assert_str_eq(container("/libpod_parent/libpod-" ID), ID " ");
	ck_assert_str_eq(container("/kubepods/burstable/pod" UID "/" ID), ID " ");
	ck_assert_str_eq(container("/kubepods.slice/kubepods-pod" UID_
				   ".slice/cri-containerd-" ID ".scope"),
			 ID " ");
	ck_assert_str_eq(
		container("/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope"),
		ID " ");
	ck_assert_str_eq(container("/system.slice/containerd.service/kubepods-pod" UID_
				   ".slice:cri-containerd:" ID),
			 ID " ");
	ck_assert_str_eq(container("/machine.slice/machine-web.scope"), "web ");
	ck_assert_str_eq(container("/lxc.payload.web/init.scope"), "web /init.scope");
	/* monitors of containers, and what only looks like one */
	ck_assert_str_eq(container("/machine.slice/libpod-conmon-" ID ".scope"), "none");
	ck_assert_str_eq(container("/system.slice/docker.service"), "none");
	ck_assert_str_eq(container("/docker/" ID "0"), "none");
	ck_assert_str_eq(container("/lxc.payload."), "none");
	ck_assert_str_eq(container("/"), "none");
	/* a container inside another one, or one that makes a group with another's name */
	ck_assert_str_eq(container("/docker/" ID "/docker/" ID2), ID " /docker/" ID2);
}
END_TEST

START_TEST(pods)
{
	struct nw_container_part part;
	const char *cgroupfs = "/kubepods/besteffort/pod" UID "/" ID;
	const char *systemd =
		"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_
		".slice/crio-" ID ".scope";

	ck_assert(nw_pod_in(cgroupfs, strlen(cgroupfs), &part));
	ck_assert_int_eq(memcmp(part.id, UID, strlen(UID)), 0);
	ck_assert_str_eq(cgroupfs + part.end, "/" ID);
	ck_assert(nw_pod_in(systemd, strlen(systemd), &part));
	ck_assert_int_eq(memcmp(part.id, UID_, strlen(UID_)), 0);
	ck_assert_str_eq(systemd + part.end, "/crio-" ID ".scope");
	ck_assert(!nw_pod_in("/podman/x", 9, &part));
	ck_assert(!nw_pod_in("/pod", 4, &part));
	ck_assert(!nw_pod_in("/-pod.slice", 11, &part));
	ck_assert(!nw_pod_in("/.slice", 7, &part));
}
END_TEST

UNIT_MAIN("cgroup", a_process_is_in_a_group_and_those_above,
	  the_path_is_of_the_hierarchy_that_says_most, each_runtimes_groups, pods)
