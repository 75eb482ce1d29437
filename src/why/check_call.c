// SPDX-License-Identifier: MIT
/* Checks of what a probe fetches, and of its return. */
#include <string.h>

#include "judge.h"

/* ---- arguments ---------------------------------------------------------------------- */

/* Returns the problem that bcc's and libbpf's parsers have with an operand; NULL: they accept it. */
static const char *bpf_problem(const struct nw_operand *op)
{
	if (op->is_float)
		return "bcc does not know the f of a floating-point argument (\"Parse error\")";
	if (strstr(op->reg, "xmm"))
		return "bcc and libbpf cannot read SSE registers";
	if (op->kind == NW_OPERAND_GLOBAL)
		return "libbpf does not know operands relative to a symbol (\"unrecognized arg\")";
	if (*op->index)
		return "libbpf before 1.7 does not know index registers (\"unrecognized arg\")";
	if (op->kind == NW_OPERAND_UNKNOWN)
		return "neither bcc nor libbpf knows this form";
	return NULL;
}

static bool check_operands(struct judge *judge, const struct nw_point *at)
{
	const struct nw_facts *facts = judge->facts;

	for (size_t i = 0; i < at->operands.count; i++) {
		const struct nw_operand *op = &at->operands.item[i];
		const char *problem = bpf_problem(op);
		if (!problem || (facts->tool && !(facts->tool->args_used >> i & 1)))
			continue;
		nw_fails(judge, "argument %zu is `%.*s`: %s", i, (int)op->text_len,
			 op->text, problem);
		nw_blame(judge, NW_CAUSE_BPF_OPERAND,
			 "argument %zu is `%.*s`: %s, and the probe is refused with it", i,
			 (int)op->text_len, op->text, problem);
		nw_remedy_stat(judge, NULL, NULL, 0);
		return true;
	}
	return false;
}

void nw_check_arguments(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_point *at;
	size_t probe = 0, point = 0, most = 0;

	if (!nw_is_usdt(facts) || !nw_count_points(facts))
		return;
	while ((at = nw_next_point(facts, &probe, &point))) {
		if (check_operands(judge, at))
			return;
		most = at->operands.count > most ? at->operands.count : most;
	}
	if (most > 12) {
		nw_fails(judge, "%zu arguments", most);
		nw_blame(judge, NW_CAUSE_BPF_OPERAND,
			 "the probe has %zu arguments; libbpf takes 12 at most", most);
		return;
	}
	nw_pass(judge,
		nw_plural(most, "%zu argument, which BPF tools take, too",
			  "%zu arguments, which BPF tools take, too"),
		most);
}

/* ---- return probes ------------------------------------------------------------------ */

/* Returns the first point that measures returns; NULL: there is none. */
static const struct nw_point *return_point(const struct nw_facts *facts)
{
	const struct nw_point *at;
	size_t probe = 0, point = 0;

	while ((at = nw_next_point(facts, &probe, &point)))
		if (at->is_return || at->is_exit)
			return at;
	return NULL;
}

void nw_remedy_entry(struct judge *judge)
{
	const struct nw_spec entry = {.kind = NW_SPEC_UPROBE,
				      .name = judge->facts->spec->name};
	struct nw_facts other = *judge->facts;
	struct judge as = *judge;

	other.spec = &entry;
	as.facts = &other;
	nw_remedy_spec(&as, judge->facts->image->path, NULL, 0);
	judge->failed = judge->failed || as.failed;
}

static void blame_return(struct judge *judge, enum nw_cause cause, const char *text)
{
	nw_fails(judge, "%s", text);
	nw_blame(judge, cause, "%s: it was not armed; probe the entry", text);
	nw_remedy_entry(judge);
}

static void blame_seccomp(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	char who[64];

	nw_fails(judge, "%s is under seccomp", nw_who(facts->process, who));
	nw_blame(
		judge, NW_CAUSE_RETURN_SECCOMP,
		"%s is under seccomp, and some kernels (6.11 to 6.13, unless mended) kill it when a return probe makes a system call of its own: it was not armed",
		nw_who(facts->process, who));
	nw_remedy_entry(judge);
}

void nw_check_return(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	bool back = facts->spec && (facts->spec->kind == NW_SPEC_URETPROBE ||
				    facts->spec->kind == NW_SPEC_FUNC);

	if (!back || !facts->image || facts->force)
		return;
	const struct nw_point *at = return_point(facts);
	/* other tools' return probes are always the kernel's */
	bool exits = at && at->is_exit && !facts->tool;
	if (facts->image->go && !exits)
		blame_return(
			judge, NW_CAUSE_RETURN_GO,
			at && at->hazard
				? at->hazard
				: "it is Go code, whose stacks move: a return probe there crashes the process");
	else if (at && at->hazard)
		blame_return(judge, NW_CAUSE_RETURN_EXCEPTION, at->hazard);
	else if (exits)
		nw_pass(judge,
			"measured by its return instructions, as a return probe of the kernel's would do harm there");
	else if (facts->process && facts->process->seccomp > 0)
		blame_seccomp(judge);
	else
		nw_pass(judge, "neither Go code nor under seccomp");
}
