# make install and uninstall, into a directory whose name has a blank.
. "$(dirname "$0")/../lib/tap.sh"
top=$(cd "$TESTS_LIB/../.." && pwd)
to="$TEST_DIR/a b"

# Of what is built already: `all` is not made again.
run_make() {
  env -u MAKEFLAGS -u MAKELEVEL make -s -C "$top" -o all "DESTDIR=$to" "$@"
}

[ -x "$top/build/nopwatch" ] || skip_all "it has not been built in $top"
ok "make install" run_make install
is "what is there" "$(cd "$to" && find . -type f ! -name '*.h' ! -path '*/recipes/*' ! -path '*/doc/*' ! -name 'nopwatch-*.1' | sort)" "./usr/local/bin/nopwatch
./usr/local/lib/libnopwatch.a
./usr/local/lib/libnopwatch.so.0
./usr/local/lib/pkgconfig/nopwatch.pc
./usr/local/share/bash-completion/completions/nopwatch
./usr/local/share/fish/vendor_completions.d/nopwatch.fish
./usr/local/share/man/man1/nopwatch.1
./usr/local/share/man/man3/libnopwatch.3
./usr/local/share/zsh/site-functions/_nopwatch"
is "the headers" "$(cd "$to/usr/local/include/nopwatch" && ls)" "$(cd "$top/include/nopwatch" && ls)"
is "the recipes" "$(cd "$to/usr/local/share/nopwatch/recipes" && ls)" "$(cd "$top/scripts/recipes" && ls)"
has "which the installed program finds" "$("$to/usr/local/bin/nopwatch" recipe)" '^malloc '
is "the documents for users" "$(cd "$to/usr/local/share/doc/nopwatch/docs" && ls)" "$(cd "$top/docs" && ls ./*.md | sed 's|./||')"
is "whose links lead to what is there" "$(cd "$to/usr/local/share/doc/nopwatch" && grep -ohE '\]\(docs/[a-z-]+[.]md' README.md | cut -c 3- | sort -u | while read -r f; do [ -f "$f" ] || echo "$f"; done)" ""
commands=$("$to/usr/local/bin/nopwatch" help | sed -n '/^usage:/,/^A SPEC/s/^  \([a-z]*\) .*/\1/p')
is "a man page a command" "$(cd "$to/usr/local/share/man/man1" && ls nopwatch-*.1)" "$(awk '{ print "nopwatch-" $0 ".1" }' <<<"$commands" | sort)"
page=$to/usr/local/share/man/man1/nopwatch-stat.1
ok "with its options" grep -qxF '.B \-\-slower TIME|pNN' "$page"
ok "and its examples" grep -qxF "nopwatch stat \\(aqmyserver:*\\(aq \\-\\- ./server" "$page"
if command -v groff >/dev/null; then
  is "groff has nothing to say of them" "$(cd "${page%/*}" && groff -man -Tutf8 -ww -W mac -K utf8 nopwatch-*.1 2>&1 >/dev/null | head -n 5)" ""
else
  skip "groff has nothing to say of them" "there is no groff"
fi
ok "make uninstall" run_make uninstall
is "nothing is left" "$(cd "$to" && find . ! -type d)" ""
is "nor is there anything else" "$(cd "$TEST_DIR" && ls)" "a b"
finish
