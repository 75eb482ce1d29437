// SPDX-License-Identifier: MIT
/*
 * Containers in the paths of control groups, and their names. The runtimes write the id of a container into its path; its name is in
 * files of theirs, which only root writes. No daemon is asked.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json_reader.h"
#include "cgroup.h"

enum {
	ID_LENGTH = 64,	   /* of docker, podman, containerd and CRI-O: hexadecimal digits */
	SHORT_LENGTH = 12, /* of an id that is shown */
	MOST_STATE = 4 << 20
};

/* ---- in a path ------------------------------------------------------------------------ */

/* Names of a container's group, around its id. */
static const struct {
	const char *before, *after;
	bool named; /* the id is a name of any characters */
} shapes[] = {
	{"docker-", ".scope", false},	      /* docker with systemd */
	{"libpod-", ".scope", false},	      /* podman with systemd */
	{"crio-", ".scope", false},	      /* CRI-O with systemd */
	{"cri-containerd-", ".scope", false}, /* containerd of Kubernetes with systemd */
	{"nerdctl-", ".scope", false},
	{"libpod-", "", false}, /* podman with cgroupfs */
	{"crio-", "", false},
	{"", "", false},	      /* docker, containerd and kubelet with cgroupfs */
	{"lxc.payload.", "", true},   /* LXC and Incus */
	{"machine-", ".scope", true}, /* systemd-nspawn */
	{"systemd-nspawn@", ".service", true},
};

static bool is_id(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isdigit((unsigned char)text[i]) && (text[i] < 'a' || text[i] > 'f'))
			return false;
	return len == ID_LENGTH;
}

/* Is a part of a path the group of a container? */
static bool match_part(const char *part, size_t len, struct nw_container_part *out)
{
	/* containerd.service/kubepods-...:cri-containerd:ID, of containerd with systemd below cgroupfs */
	for (size_t i = len; i > 0; i--)
		if (part[i - 1] == ':') {
			part += i;
			len -= i;
			break;
		}
	for (size_t i = 0; i < NW_COUNT(shapes); i++) {
		size_t head = strlen(shapes[i].before), tail = strlen(shapes[i].after);
		if (len <= head + tail || memcmp(part, shapes[i].before, head) != 0 ||
		    memcmp(part + len - tail, shapes[i].after, tail) != 0)
			continue;
		out->id = part + head;
		out->len = len - head - tail;
		if (shapes[i].named || is_id(out->id, out->len))
			return true;
	}
	return false;
}

/* Is it the group of a Kubernetes pod: "podUID" or "kubepods-...-podUID.slice"? */
static bool match_pod(const char *part, size_t len, struct nw_container_part *out)
{
	size_t at = 0, uid = 0;

	if (len > 6 && memcmp(part + len - 6, ".slice", 6) == 0) {
		len -= 6;
		while (at + 4 < len && memcmp(part + at, "-pod", 4) != 0)
			at++;
		at++;
	}
	if (at + 3 >= len || memcmp(part + at, "pod", 3) != 0)
		return false;
	for (at += 3; at + uid < len; uid++)
		if (!isxdigit((unsigned char)part[at + uid]) && part[at + uid] != '-' &&
		    part[at + uid] != '_')
			return false;
	out->id = part + at;
	out->len = uid;
	/* A static pod's is a hash without "-". */
	return uid == 36 || uid == 32;
}

static bool find_part(const char *path, size_t len, size_t from,
		      bool (*match)(const char *part, size_t len,
				    struct nw_container_part *out),
		      struct nw_container_part *out)
{
	for (size_t at = from; at < len;) {
		size_t end = at;
		while (end < len && path[end] != '/')
			end++;
		if (match(path + at, end - at, out)) {
			out->end = end;
			return true;
		}
		at = end + 1;
	}
	return false;
}

bool nw_container_in(const char *path, size_t len, size_t from,
		     struct nw_container_part *out)
{
	return find_part(path, len, from, match_part, out);
}

bool nw_pod_in(const char *path, size_t len, struct nw_container_part *out)
{
	return find_part(path, len, 0, match_pod, out);
}

/* ---- names ------------------------------------------------------------------------------ */

/* Files that describe one container: the parts of their paths around its id. */
static const struct {
	const char *before, *after;
} state_files[] = {
	{"/var/lib/docker/containers/", "/config.v2.json"},
	{"/run/containerd/io.containerd.runtime.v2.task/k8s.io/", "/config.json"},
	{"/run/containerd/io.containerd.runtime.v2.task/default/", "/config.json"},
	{"/run/containers/storage/overlay-containers/", "/userdata/config.json"},
	{"/var/lib/containers/storage/overlay-containers/", "/userdata/config.json"},
};

/* Lists of all containers of podman and CRI-O. */
static const char *const state_lists[] = {
	"/var/lib/containers/storage/overlay-containers/containers.json",
	"/var/lib/containers/storage/vfs-containers/containers.json",
	"/var/lib/containers/storage/btrfs-containers/containers.json",
};

/* Labels and annotations that tell names. */
enum label_use {
	IS_NAME,
	IS_POD,
	IS_POD_SPACE,
	IS_POD_UID
};
static const struct {
	const char *key;
	enum label_use use;
} labels[] = {
	{"io.kubernetes.cri.container-name", IS_NAME},
	{"io.kubernetes.container.name", IS_NAME},
	{"nerdctl/name", IS_NAME},
	{"io.kubernetes.cri.sandbox-name", IS_POD},
	{"io.kubernetes.pod.name", IS_POD},
	{"io.kubernetes.cri.sandbox-namespace", IS_POD_SPACE},
	{"io.kubernetes.pod.namespace", IS_POD_SPACE},
	{"io.kubernetes.cri.sandbox-uid", IS_POD_UID},
	{"io.kubernetes.pod.uid", IS_POD_UID},
};

/* Reads a state file, if root has written it. NULL: there is none. */
static nw_json_value *read_state(const char *root, const char *path)
{
	nw_json_value *value = NULL;
	struct nw_buf text = {0};
	struct stat st;

	int fd = nw_open_regular_in(root, path);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && nw_is_trusted(st.st_uid) &&
	    nw_buf_read_most(&text, fd, MOST_STATE) == 0 &&
	    nw_json_read(nw_buf_str(&text), text.len, &value, NULL) < 0)
		value = NULL;
	close(fd);
	nw_buf_free(&text);
	return value;
}

static int add_name(struct nw_container_names *names, const nw_json_value *value)
{
	size_t len;
	const char *text = nw_json_string(value, &len);

	while (text && *text == '/') /* docker's names */
		text++;
	return text && *text && !nw_strings_has(&names->names, text)
		       ? nw_strings_add(&names->names, text, strlen(text))
		       : 0;
}

static int add_labels(struct nw_container_names *names, const nw_json_value *object)
{
	char **const fields[] = {[IS_POD] = &names->pod,
				 [IS_POD_SPACE] = &names->pod_space,
				 [IS_POD_UID] = &names->pod_uid};
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < NW_COUNT(labels); i++) {
		const nw_json_value *value = nw_json_member(object, labels[i].key);
		size_t len;
		const char *text = nw_json_string(value, &len);
		if (!text)
			continue;
		if (labels[i].use == IS_NAME) {
			ret = add_name(names, value);
		} else if (!*fields[labels[i].use]) {
			*fields[labels[i].use] = strdup(text);
			ret = *fields[labels[i].use] ? 0 : -ENOMEM;
		}
	}
	return ret;
}

static int take_state(struct nw_container_names *names, const nw_json_value *state)
{
	int ret = add_name(names, nw_json_member(state, "Name"));

	if (ret == 0)
		ret = add_labels(names,
				 nw_json_member(nw_json_member(state, "Config"), "Labels"));
	return ret < 0 ? ret : add_labels(names, nw_json_member(state, "annotations"));
}

static int take_list(struct nw_container_names *names, const nw_json_value *list,
		     const char *id)
{
	int ret = 0;

	for (size_t i = 0; i < nw_json_length(list); i++) {
		const nw_json_value *one = nw_json_element(list, i);
		const nw_json_value *all = nw_json_member(one, "names");
		size_t len;
		const char *text = nw_json_string(nw_json_member(one, "id"), &len);
		for (size_t j = 0;
		     text && strcmp(text, id) == 0 && ret == 0 && j < nw_json_length(all);
		     j++)
			ret = add_name(names, nw_json_element(all, j));
	}
	return ret;
}

static int read_names(const char *root, const char *id, struct nw_container_names *names)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < NW_COUNT(state_files); i++) {
		char path[256];
		snprintf(path, sizeof(path), "%s%s%s", state_files[i].before, id,
			 state_files[i].after);
		nw_json_value *state = read_state(root, path);
		ret = take_state(names, state);
		nw_json_value_free(state);
	}
	for (size_t i = 0; ret == 0 && i < NW_COUNT(state_lists); i++) {
		nw_json_value *list = read_state(root, state_lists[i]);
		ret = take_list(names, list, id);
		nw_json_value_free(list);
	}
	return ret;
}

/* Makes what a container is called: as Kubernetes does, or by its name, or by its id. */
static char *make_label(const struct nw_container_names *names, const char *id, size_t len)
{
	const char *name = names->names.count ? names->names.item[0] : NULL;

	if (names->pod && names->pod_space)
		return nw_text("%s/%s%s%s", names->pod_space, names->pod, name ? "/" : "",
			       name ? name : "");
	if (name)
		return strdup(name);
	return strndup(id, is_id(id, len) ? SHORT_LENGTH : len);
}

static void open_host(struct nw_containers *containers, const struct nw_pid_space *space)
{
	nw_cleanup(nw_free_ptr) char *root = space && space->foreign
						     ? nw_text("/proc/self/fd/%d/1/root",
							       space->host)
						     : nw_text("/proc/1/root");
	struct stat own, host;

	containers->opened = true;
	if (!root || (space && space->foreign && space->host < 0) || stat("/", &own) < 0 ||
	    stat(root, &host) < 0 ||
	    (own.st_dev == host.st_dev && own.st_ino == host.st_ino))
		return;
	containers->host = root;
	root = NULL;
}

const struct nw_container_names *nw_containers_names(struct nw_containers *containers,
						     const struct nw_pid_space *space,
						     const char *id, size_t len)
{
	int64_t number = nw_index_find(&containers->ids, id, len);
	nw_cleanup(nw_free_ptr) char *text = NULL;

	if (number >= 0)
		return &containers->known.item[number];
	if (!containers->opened)
		open_host(containers, space);
	struct nw_container_names *names = nw_vec_add(&containers->known);
	if (!names)
		return NULL;
	text = strndup(id, len);
	/* A name that is no id is not looked for: it may have any characters. */
	int ret = text ? 0 : -ENOMEM;
	if (ret == 0 && is_id(id, len))
		ret = read_names("", text, names);
	if (ret == 0 && is_id(id, len) && containers->host)
		ret = read_names(containers->host, text, names);
	names->label = ret == 0 ? make_label(names, id, len) : NULL;
	if (names->label && nw_index_add(&containers->ids, id, len) >= 0)
		return names;
	nw_strings_free(&names->names);
	free(names->pod);
	free(names->pod_space);
	free(names->pod_uid);
	free(names->label);
	containers->known.count--;
	return NULL;
}

const char *nw_containers_label(struct nw_containers *containers,
				const struct nw_pid_space *space, const char *path,
				size_t len)
{
	struct nw_container_part part;

	if (!nw_container_in(path, len, 0, &part))
		return "-";
	const struct nw_container_names *names = nw_containers_names(containers, space,
								     part.id, part.len);
	return names ? names->label : NULL;
}

void nw_containers_free(struct nw_containers *containers)
{
	nw_vec_each (&containers->known, names) {
		nw_strings_free(&names->names);
		free(names->pod);
		free(names->pod_space);
		free(names->pod_uid);
		free(names->label);
	}
	nw_vec_free(&containers->known);
	nw_index_free(&containers->ids);
	free(containers->host);
	*containers = (struct nw_containers){0};
}
