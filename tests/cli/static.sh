# `make static`: one file that needs nothing, and, with ALL=1, the same bytes from the same sources built elsewhere. What
# is made of it: a bill of materials and an image for containers.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/static.sh"

TOP=$(cd "$TESTS_LIB/../.." && pwd)
machines=$(uname -m)
[ -z "${ALL:-}" ] || machines=$("$TOP/scripts/static" --machines)

# The sources elsewhere; the libraries are those that have been fetched.
elsewhere=$TEST_DIR/some/where
[ -z "${ALL:-}" ] || {
  mkdir -p "$elsewhere/build"
  tar -C "$TOP" -cf - Makefile scripts src include tests/tests.mk tests/vm tests/fuzz/fuzz.mk | tar -C "$elsewhere" -xf -
  [ ! -d "$TOP/build/sysroot" ] || cp -r "$TOP/build/sysroot" "$elsewhere/build/sysroot"
}

# What the tests build anyway is taken; a release builds all anew.
objects=build/plain
[ -z "${ALL:-}" ] || objects=
for machine in $machines; do
  why=$(OBJECTS=$objects "$TOP/scripts/static" "$machine" 2>&1)
  case $? in
  0) ;;
  1)
    skip "$machine" "$why"
    continue
    ;;
  *)
    fail "$machine: builds"
    comment "$why"
    continue
    ;;
  esac
  file=$TOP/build/static/nopwatch-$machine
  static_check "$machine" "$file"
  is "$machine: no path of this machine is in it" "$(strings -a "$file" | grep -cF "$TOP")" 0
  [ -n "${ALL:-}" ] || continue
  (cd "$elsewhere" && SOURCE_DATE_EPOCH=1 TZ=Asia/Tokyo LC_ALL=C scripts/static "$machine" >/dev/null 2>&1)
  ok "$machine: built elsewhere, the same bytes" cmp "$file" "$elsewhere/build/static/nopwatch-$machine"
done
# what is needed for the returns of any program that may throw, as static ones do
case $(uname -m) in
x86_64 | aarch64)
  has "takes instructions apart" "$("$TOP/build/static/nopwatch-$(uname -m)" stat --dry-run "func:$PROGRAMS/leaves:step,returns=insn" 2>&1)" \
    "'p:nopwatch_[^ ]* $PROGRAMS/leaves:.*'"
  ;;
esac
file=$TOP/build/static/nopwatch-$(uname -m)
if [ -x "$PROGRAMS/names" ]; then
  names=$("$file" list "func:$PROGRAMS/names:app::*" 2>&1)
  has "knows C++'s names" "$names" 'app::handler'
  is "the same as the other program" "$names" "$("$NOPWATCH" list "func:$PROGRAMS/names:app::*" 2>&1)"
else
  skip "knows C++'s names" "no C++ compiler"
fi
has "runs where there is no library" \
  "$(mkdir "$TEST_DIR/root" && cp "$TOP/build/static/nopwatch-$(uname -m)" "$TEST_DIR/root/nopwatch" &&
    { chroot "$TEST_DIR/root" /nopwatch --version 2>&1 || unshare -r chroot "$TEST_DIR/root" /nopwatch --version 2>&1; })" '^nopwatch '

# ---- libraries that cannot be had

# fetch_with WHAT_APT_DOES: an apt that says what the real one was seen to say; a copy of the scripts asks it
fetch_with() {
  mkdir -p "$TEST_DIR/fetch/bin"
  cp -r "$TOP/scripts" "$TEST_DIR/fetch/"
  cat >"$TEST_DIR/fetch/bin/apt-get" <<APT
#!/bin/sh
case "\$*" in
indextargets*) echo "Debian http://archive.example/debian/" ;;
*update) echo update >>"$TEST_DIR/fetch/updates" ; $1 ;;
*download*) $2 ;;
esac
APT
  chmod +x "$TEST_DIR/fetch/bin/apt-get"
  PATH=$TEST_DIR/fetch/bin:$PATH "$TEST_DIR/fetch/scripts/sysroot" riscv64 2>&1
  echo "status $?"
}
if [ -f /usr/share/keyrings/debian-archive-keyring.gpg ]; then
  is "an archive in the middle of an update is told as such" "$(fetch_with \
    'echo "E: Failed to fetch http://archive.example/Packages.xz  File has unexpected size (9612 != 9604). Mirror sync in progress?"; exit 100')" \
    "E: Failed to fetch http://archive.example/Packages.xz  File has unexpected size (9612 != 9604). Mirror sync in progress?
The archive's index does not match its signed list: the archive is in the middle of an update. Try again in an hour.
cannot fetch libraries for riscv64
status 1"
  is "so is one that does not answer in time" "$(fetch_with 'exit 124' | head -n 1)" \
    "apt-get took too long and was stopped. Is the archive slow, or out of reach?"
  gone='echo "E: Failed to fetch http://archive.example/x.deb  404  Not Found"; exit 100'
  is "a package that has gone is told as such" "$(fetch_with : "$gone" | head -n 1)" "E: Failed to fetch http://archive.example/x.deb  404  Not Found"
  : >"$TEST_DIR/fetch/updates"
  fetch_with : "$gone" >/dev/null
  is "and the next try asks for new lists" "$(cat "$TEST_DIR/fetch/updates")" update
else
  skip "what is said of an archive" "Debian's archive keys are not installed"
fi

# ---- what is made of it

machine=$(uname -m)
version=$(sed -n 's/^VERSION := //p' "$TOP/Makefile")
# a copy of the sources may have no history, which both say something of
if git -C "$TOP" rev-parse -q --verify HEAD >/dev/null; then
  said=$("$TOP/scripts/sbom" "$version" "$machine" >"$TEST_DIR/spdx" && python3 - "$TEST_DIR/spdx" "$file" <<'PYTHON'
import hashlib, re, sys
text = open(sys.argv[1]).read()
packages = {}
for part in text.split("\nPackageName: ")[1:]:
    fields = dict(re.findall(r"^(\w+): (.+)$", part, re.M))
    packages[fields["SPDXID"]] = (part.split("\n")[0], fields)
for left, right in re.findall(r"^Relationship: (\S+) [A-Z_]+ (\S+)$", text, re.M):
    for name in left, right:
        if name not in packages and name != "SPDXRef-DOCUMENT":
            print("unknown:", name)
for name, fields in packages.values():
    if not re.fullmatch(r"[0-9][0-9a-z.+-]*", fields["PackageVersion"]):
        print("no version:", name)
digest = hashlib.sha256(open(sys.argv[2], "rb").read()).hexdigest()
print(*sorted(name for name, fields in packages.values() if not name.startswith("nopwatch")))
print(text.count("PackageChecksum: SHA256: " + digest))
PYTHON
  )
  libraries=$("$file" --version | sed -n 's/^linked libraries: //p' | tr ',' '\n' | awk '{ print $1 }')
  lacking=
  for library in $libraries glibc gcc-runtime; do
    [[ $(head -n 1 <<<"$said") == *"$library"* ]] || lacking+=" $library"
  done
  is "the bill of materials has every linked library" "$lacking" ""
  is "and the program's checksum, and nothing that it does not describe" "$(tail -n +2 <<<"$said")" 1

  image=$("$TOP/scripts/packages/build" image "$version" "$machine" 2>"$TEST_DIR/said")
  mkdir "$TEST_DIR/image" "$TEST_DIR/layer"
  ok "an image is one tar" tar -C "$TEST_DIR/image" -xf "$image"
  is "what its lists name is in it, with these digests and sizes" "$(python3 - "$TEST_DIR/image" <<'PYTHON'
import hashlib, json, os, sys
top = sys.argv[1]
blob = lambda digest: open(os.path.join(top, "blobs/sha256", digest.replace("sha256:", "")), "rb").read()
def look(described):
    data = blob(described["digest"])
    assert len(data) == described["size"] and "sha256:" + hashlib.sha256(data).hexdigest() == described["digest"], described
    return data
index = json.load(open(top + "/index.json"))
manifest = json.loads(look(index["manifests"][0]))
config = json.loads(look(manifest["config"]))
layers = ["sha256:" + hashlib.sha256(look(layer)).hexdigest() for layer in manifest["layers"]]
assert config["rootfs"]["diff_ids"] == layers
old = json.load(open(top + "/manifest.json"))[0]
assert json.loads(blob(os.path.basename(old["Config"]))) == config and ["sha256:" + os.path.basename(one) for one in old["Layers"]] == layers
assert json.load(open(top + "/oci-layout")) == {"imageLayoutVersion": "1.0.0"}
names = index["manifests"][0]["annotations"]
print(config["config"]["Entrypoint"], old["RepoTags"], names["org.opencontainers.image.ref.name"], names["io.containerd.image.name"])
PYTHON
)" "['/usr/bin/nopwatch'] ['nopwatch:$version'] nopwatch:$version docker.io/library/nopwatch:$version"
  layer=$(python3 -c "import json; print(json.load(open('$TEST_DIR/image/manifest.json'))[0]['Layers'][0])")
  tar -C "$TEST_DIR/layer" -xf "$TEST_DIR/image/$layer"
  cp "$TOP/tests/demo/sample.dat" "$TEST_DIR/layer/"
  # with /proc, as containers have it
  within() {
    local as=
    [ "$(id -u)" = 0 ] || as=-r
    unshare $as -mpf --mount-proc="$TEST_DIR/layer/proc" chroot "$TEST_DIR/layer" "$@" 2>&1
  }
  has "it reports a recording" "$(within /usr/bin/nopwatch report /sample.dat)" 'myserver:request '
  has "and has its recipes" "$(within /usr/bin/nopwatch recipe)" '^ *postgres '
else
  skip "of what it consists, and an image" "these sources are not in git, which says when they were written"
fi
finish
