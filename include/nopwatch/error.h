/* SPDX-License-Identifier: MIT */
/* Why a function of libnopwatch failed. */
#ifndef NOPWATCH_ERROR_H
#define NOPWATCH_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

struct nopwatch_error;

/* The version of the library, "0.1.0". */
const char *nopwatch_version(void);

/* A positive errno. */
int nopwatch_error_code(const struct nopwatch_error *error);
/* One sentence without a final full stop: what happened, where and why. */
const char *nopwatch_error_text(const struct nopwatch_error *error);
/* Advice for the user; "" if there is none. */
const char *nopwatch_error_hint(const struct nopwatch_error *error);
void nopwatch_error_free(struct nopwatch_error *error);

#ifdef __cplusplus
}
#endif

#endif
