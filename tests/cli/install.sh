# make install and uninstall, into a directory whose name has a blank.
. "$(dirname "$0")/../lib/tap.sh"
top=$(cd "$TESTS_LIB/../.." && pwd)
to="$TEST_DIR/a b"

# Of what is built already: `all` is not made again.
run_make() {
  env -u MAKEFLAGS -u MAKELEVEL make -s -C "$top" -o all "DESTDIR=$to" "$@"
}

[ -x "$top/build/nopwatch" ] || skip_all "it has not been built in $top"
! sanitized || skip_all "what is installed has no sanitizers"
ok "make install" run_make install
is "what is there" "$(cd "$to" && find . -type f ! -name '*.h' ! -path '*/recipes/*' ! -path '*/doc/*' ! -name 'nopwatch-*.1' | sort)" "./usr/local/bin/nopwatch
./usr/local/lib/libnopwatch.a
./usr/local/lib/libnopwatch.so.0
./usr/local/lib/pkgconfig/nopwatch.pc
./usr/local/lib/systemd/system/nopwatch@.service
./usr/local/share/bash-completion/completions/nopwatch
./usr/local/share/fish/vendor_completions.d/nopwatch.fish
./usr/local/share/man/man1/nopwatch.1
./usr/local/share/man/man3/libnopwatch.3
./usr/local/share/nopwatch/prometheus/grafana-dashboard.json
./usr/local/share/nopwatch/prometheus/nopwatch.rules.yml
./usr/local/share/zsh/site-functions/_nopwatch"
is "the headers" "$(cd "$to/usr/local/include/nopwatch" && ls)" "$(cd "$top/include/nopwatch" && ls)"
is "the recipes" "$(cd "$to/usr/local/share/nopwatch/recipes" && ls)" "$(cd "$top/scripts/recipes" && ls)"
has "which the installed program finds" "$("$to/usr/local/bin/nopwatch" recipe)" '^malloc '
is "the documents for users" "$(cd "$to/usr/local/share/doc/nopwatch/docs" && ls ./*.md)" "$(cd "$top/docs" && ls ./*.md)"
# dead_links: links of the documents below here to files that are not
dead_links() {
  find . -name '*.md' | while read -r file; do
    grep -oE '\]\([^)# ]+' "$file" | cut -c 3- | grep -vE '^[a-z]+:' | while read -r link; do
      [ -e "${file%/*}/$link" ] || echo "$file: $link"
    done
  done
}
is "whose links lead to what is there" "$(cd "$to/usr/local/share/doc/nopwatch" && dead_links)" ""
has "or are named" "$(cat "$to"/usr/local/share/doc/nopwatch/docs/security*)" 'docs/dev/limits\.md of the source'
is "links are looked for where there are some" "$(cd "$TEST_DIR" && mkdir dead && cd dead && echo 'a [b](c#d) and ![e](../f)' >README.md && dead_links)" "./README.md: c
./README.md: ../f"
rm -r "$TEST_DIR/dead"
commands=$("$to/usr/local/bin/nopwatch" help | sed -n '/^usage:/,/^A SPEC/s/^  \([a-z]*\) .*/\1/p')
is "a man page a command" "$(cd "$to/usr/local/share/man/man1" && ls nopwatch-*.1)" "$(awk '{ print "nopwatch-" $0 ".1" }' <<<"$commands" | sort)"
page=$to/usr/local/share/man/man1/nopwatch-stat.1
ok "with its options" grep -qxF '.B \-\-slower TIME|pNN' "$page"
ok "and its examples" grep -qxF "nopwatch stat \\(aqmyserver:*\\(aq \\-\\- ./server" "$page"
if command -v groff >/dev/null && command -v man >/dev/null; then
  is "groff has nothing to say of them" "$(cd "${page%/*}" && for width in 60 80 132; do groff -man -Tutf8 -ww -W mac -K utf8 "-rLL=${width}n" ./*.1 ../man3/*.3 2>&1 >/dev/null; done | head -n 5)" ""
  # man(1) reads a page from its first line on without the macros of .TH
  is "nor has man" "$(cd "${page%/*}" && for file in ./*.1 ../man3/*.3; do man --warnings -E UTF-8 -l -Tutf8 -Z "$file" 2>&1 >/dev/null; done | head -n 5)" ""
else
  skip "groff has nothing to say of them" "there is no groff"
fi
unit=$to/usr/local/lib/systemd/system/nopwatch@.service
is "the unit runs what was installed" "$(sed -n 's/^Exec[A-Za-z]*=\([^ ]*\) .*/\1/p' "$unit" | sort -u)" /usr/local/bin/nopwatch
if command -v systemd-analyze >/dev/null; then
  mkdir "$TEST_DIR/units"
  sed "s|/usr/local/bin/nopwatch|$to/usr/local/bin/nopwatch|; s|^\(Exec[A-Za-z]*=\)\(.*\)/nopwatch |\1\"\2/nopwatch\" |" "$unit" >"$TEST_DIR/units/nopwatch@.service"
  is "systemd understands the unit" "$(systemd-analyze verify --man=no "$TEST_DIR/units/nopwatch@a.service" 2>&1)" ""
  has "and finds it hardened" "$(systemd-analyze security --offline=yes "$TEST_DIR/units/nopwatch@.service" 2>&1 | tail -n 1)" ': [0-3]\.[0-9] '
  rm -r "$TEST_DIR/units"
else
  skip "systemd understands the unit" "there is no systemd-analyze"
fi
ok "make uninstall" run_make uninstall
is "nothing is left" "$(cd "$to" && find . ! -type d)" ""
is "nor is there anything else" "$(cd "$TEST_DIR" && ls)" "a b"
finish
