# The packages name every file that `make install` installs, and its version. With ALL=1 they are built, and installed,
# run, upgraded and removed in a clean root.
# traces with ALL=1: the command that was installed has its own test, which does
. "$(dirname "$0")/../lib/tap.sh"
top=$(cd "$TESTS_LIB/../.." && pwd)
packages=$top/scripts/packages
version=$(sed -n 's/^VERSION := //p' "$top/Makefile")

is "Debian's changelog has the version" "$(sed -n '1s/.*(\(.*\)-[0-9]*).*/\1/p' "$packages/debian/changelog")" "$version"
is "so has the command" "$("$NOPWATCH" --version | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')" "$version"
# the version and the date, in every file that has them; the date of a release is in CHANGELOG.md, too
dated() {
  sed -n 's/^## \(.*\), \(20.*\)/\1 \2 CHANGELOG.md/p' "$top/CHANGELOG.md" | head -n 1
  echo "$(sed -n '1s/.*(\(.*\)-[0-9]*).*/\1/p' "$packages/debian/changelog")" \
    "$(date -u -d "$(sed -n 's/^ -- .*>  //p' "$packages/debian/changelog" | head -n 1)" +%F) Debian's changelog"
  sed -n 's/^\.TH \([^ ]*\) [13] \([^ ]*\) "nopwatch \([^ ]*\)".*/\3 \2 \1/p' "$top"/docs/man/*
}
has "CHANGELOG.md begins with this version, which has a date or is unreleased" "$(grep -m1 '^## ' "$top/CHANGELOG.md")" \
  "^## $version, (unreleased|20[0-9]{2}-[01][0-9]-[0-3][0-9])$"
is "Debian's changelog and the man pages have one version and one date, that of the release" "$(dated | cut -d ' ' -f 1,2 | sort | uniq -c | sed 's/^ *//')" \
  "$(dated | wc -l) $version $(dated | sed -n '1s/^[^ ]* \([^ ]*\) .*/\1/p')"
has "which is a date" "$(dated | head -n 1)" '^[0-9.]+ 20[0-9]{2}-[01][0-9]-[0-3][0-9] '
is "and docs/containers.md names this version's image" "$(grep -oE '\bnopwatch:[0-9][0-9.]*' "$top/docs/containers.md" | sort -u)" "nopwatch:$version"

! sanitized || skip_all "what is installed has no sanitizers"
ok "make install" env -u MAKEFLAGS -u MAKELEVEL make -s -C "$top" -o all install "DESTDIR=$TEST_DIR/to" PREFIX=/usr DOCDIR=/usr/share/doc/nopwatch LIBDIR=/usr/lib/any \
  ZSHCOMPDIR=/usr/share/zsh/vendor-completions
is "pkg-config has the version" "$(PKG_CONFIG_LIBDIR=$TEST_DIR/to/usr/lib/any/pkgconfig pkg-config --modversion nopwatch)" "$version"
# files_missing PATTERNS: what is installed, but neither matched by one of them nor in a directory that is
files_missing() {
  local file pattern
  (cd "$TEST_DIR/to" && find . -type f -printf '%P\n') | while read -r file; do
    while read -r pattern; do
      # shellcheck disable=SC2053 # patterns on purpose
      [[ $file == $pattern || $file == $pattern/* ]] && continue 2
    done <<<"$1"
    echo "$file"
  done
}
is "Debian's packages have what is installed" "$(files_missing "$(cat "$packages"/debian/*.install)")" ""
# the places of RPM's macros
rpm_files=$(sed -n '/^%files/,$s/^\(%doc \)*%{/%{/p' "$packages/nopwatch.spec" | sed -e 's,%{_docdir},usr/share/doc,' -e 's,%{_bindir},usr/bin,' -e 's,%{_mandir},usr/share/man,' \
  -e 's,%{_datadir},usr/share,' -e 's,%{_prefix},usr,' -e 's,%{_libdir},usr/lib/any,' -e 's,%{_includedir},usr/include,' -e 's,zsh/site-functions,zsh/vendor-completions,')
is "RPM's packages, too" "$(files_missing "$rpm_files")" ""
# Alpine's tools are not to be had elsewhere: a shell does with its file what they do.
ok "make apk lays out what abuild reads" env -u MAKEFLAGS -u MAKELEVEL make -s -C "$top" apk
(
  # shellcheck disable=SC2034 # which the file reads
  pkgdir=$TEST_DIR/apk
  # shellcheck disable=SC1091
  . "$top/build/packages/apk/APKBUILD"
  make() { env -u MAKEFLAGS -u MAKELEVEL make -s -C "$top" -o all "$@"; }
  package
  # shellcheck disable=SC2154 # of the file
  (cd "$top/build/packages/apk" && sha512sum -c <<<"$(sed /^$/d <<<"$sha512sums")") && echo "$pkgver"
) >"$TEST_DIR/apk.said" 2>&1
is "its sources have their checksum, and its version is ours" "$(cat "$TEST_DIR/apk.said")" "nopwatch-$version.tar.gz: OK
$version"
names_of() { (cd "$1" && find . -type f ! -path './usr/share/doc/*' -printf '%f\n' | sort); }
is "it installs the same files, but for the unit of systemd" "$(names_of "$TEST_DIR/apk")" "$(names_of "$TEST_DIR/to" | grep -v '@\.service$')"
[ -n "${ALL:-}" ] || finish

# ---- built, and used where nothing else is

build_packages() {
  env -u MAKEFLAGS -u MAKELEVEL make -s -C "$top" "$1" >"$TEST_DIR/$1.said" 2>&1 || { comment "$(cat "$TEST_DIR/$1.said")" && false; }
}

within() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }

# its words are of no interest unless it fails
apt() {
  within apt-get -qqy "$@" >"$TEST_DIR/apt" 2>&1 || { comment "$(tail -n 20 "$TEST_DIR/apt")" && false; }
}

# autopkgtest NAME: a test of the package's, as autopkgtest runs it
autopkgtest() {
  rm -rf "$root/tmp/autopkgtest"
  mkdir "$root/tmp/autopkgtest"
  within env -C /src AUTOPKGTEST_TMP=/tmp/autopkgtest sh "scripts/packages/debian/tests/$1" 2>&1
}

take_down() {
  umount "$root/sys/kernel/tracing" "$root/proc" 2>/dev/null
}

if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null || ! command -v dh >/dev/null || ! command -v lintian >/dev/null; then
  skip "Debian's packages" "needs root, debootstrap, debhelper and lintian"
elif ok "make deb" build_packages deb; then
  debs=$top/build/packages/deb
  is "lintian finds nothing" "$(lintian --allow-root "$debs"/nopwatch_*.changes 2>&1)" ""
  root=$TEST_DIR/root
  trap take_down EXIT
  mirror=$("$top/scripts/archive" debian)
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  if ! debootstrap --variant=minbase "$codename" "$root" "$mirror" >"$TEST_DIR/bootstrap" 2>&1; then
    fail "a clean root can be made"
    comment "$(tail -n 5 "$TEST_DIR/bootstrap")"
  else
    mount -t proc proc "$root/proc"
    # an older version of the package, made of the new one
    dpkg-deb -R "$debs"/nopwatch_*.deb "$TEST_DIR/old"
    sed -i 's/^Version: .*/Version: 0.0.1-1/' "$TEST_DIR/old/DEBIAN/control"
    dpkg-deb -b "$TEST_DIR/old" "$root/old.deb" >/dev/null
    cp "$debs"/nopwatch_"$version"*.deb "$debs"/libnopwatch0_*.deb "$debs"/libnopwatch-dev_*.deb "$root"
    cp "$top/tests/demo/sample.dat" "$SERVER" "$root"
    apt update
    ok "an older one is installed with what it needs" apt install /old.deb
    ok "and upgraded" apt install "/nopwatch_$version-1_$(dpkg --print-architecture).deb"
    is "to this version" "$(within dpkg-query -Wf '${Version}' nopwatch)" "$version-1"
    has "it reports a recording" "$(within nopwatch report /sample.dat)" 'myserver:request '
    ok "so is the library" apt install --no-install-recommends g++ "/libnopwatch0_$version-1_$(dpkg --print-architecture).deb" \
      "/libnopwatch-dev_$version-1_$(dpkg --print-architecture).deb"
    # shellcheck disable=SC2046 # words
    ok "and what autopkgtests need" apt install --no-install-recommends \
      $(sed -n 's/^Depends: //p' "$packages/debian/tests/control" | tr -d , | sed -e 's/@//' -e 's/\(lib\)*nopwatch[^ ]*//g')
    mkdir "$root/src"
    git -C "$top" archive HEAD | tar -x -C "$root/src"
    if grep -q ' tracefs ' /proc/self/mounts; then
      mkdir -p "$root/sys/kernel/tracing"
      mount --bind "$(awk '$3 == "tracefs" { print $2; exit }' /proc/self/mounts)" "$root/sys/kernel/tracing"
      has "it traces" "$(within nopwatch stat 'usdt:/server:myserver:*' -- /server -t 1 -d 1 2>&1)" 'myserver:request +[1-9]'
      has "autopkgtest demo: it traces" "$(autopkgtest demo)" 'Tracing the sample server'
      umount "$root/sys/kernel/tracing"
    else
      skip "it traces" "tracefs is not mounted"
    fi
    ok "its man page is there" within test -f /usr/share/man/man1/nopwatch.1.gz
    has "autopkgtest demo: without tracefs it reports" "$(autopkgtest demo)" 'myserver:request '
    ok "autopkgtest library" autopkgtest library
    ok "the library's manual is there" within test -f /usr/share/man/man3/libnopwatch.3.gz
    # shellcheck disable=SC2016 # for the shell there
    ok "C++ can use it" within sh -c 'printf "#include <nopwatch/nopwatch.h>\nint main() { return !*nopwatch_version(); }\n" | \
      g++ -Wall -Werror -x c++ - $(pkg-config --cflags --libs nopwatch) -o /version && /version'
    # shellcheck disable=SC2016
    ok "so can a static program" within sh -c 'gcc /usr/share/doc/libnopwatch-dev/examples/span.c -Wl,-Bstatic -lnopwatch -Wl,-Bdynamic \
      $(pkg-config --static --libs nopwatch) -o /span'
    ok "all of it is removed" apt purge nopwatch libnopwatch-dev libnopwatch0
    is "nothing is left" "$(find "$root/usr" "$root/etc" "$root/var/lib/dpkg/info" -name '*nopwatch*')" ""
  fi
  take_down
fi

if ! command -v rpmbuild >/dev/null; then
  skip "RPM's packages" "rpmbuild is not installed"
elif ok "make rpm" build_packages rpm; then
  mkdir "$TEST_DIR/rpm"
  # its database has none of this system's libraries
  ok "it is installed" rpm --root "$TEST_DIR/rpm" -i --nodeps "$top"/build/packages/rpm/RPMS/*/nopwatch-"$version"*.rpm
  has "it reports a recording" "$("$TEST_DIR/rpm/usr/bin/nopwatch" report "$top/tests/demo/sample.dat")" 'myserver:request '
  ok "it is removed" rpm --root "$TEST_DIR/rpm" -e nopwatch
  is "nothing is left" "$(find "$TEST_DIR/rpm/usr" -name '*nopwatch*')" ""
fi
finish
