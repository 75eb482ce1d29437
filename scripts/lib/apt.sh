# shellcheck shell=sh
# Packages of Debian's for any architecture, with signatures checked, but in an apt of our own below build/apt:
# the machine's packages and lists are left alone. Sourced in the top directory.
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# The release whose C library is the cross compilers', if it knows the architecture.
release_of() { # ARCH
  case $1 in
  riscv64) echo trixie ;;
  *) echo bookworm ;;
  esac
}

# What apt says first about what it could not do, or that it was stopped; and what to do if the archive's own files disagree.
why_not() { # LOG STATUS
  if [ "$2" = 124 ]; then
    echo "apt-get took too long and was stopped. Is the archive slow, or out of reach?" >&2
  else
    grep -m 1 '^E: ' "$1" >&2 || tail -n 1 "$1" >&2
  fi
  ! grep -qE 'unexpected size|Hash Sum mismatch|Mirror sync in progress' "$1" ||
    echo "The archive's index does not match its signed list: the archive is in the middle of an update. Try again in an hour." >&2
}

# in_apt RELEASE ARCH COMMAND...: a command that uses apt with this release and architecture only; with "source"
# for an architecture, with its sources
in_apt() {
  [ -f "$keyring" ] || { echo "Debian's archive keys are not installed ($keyring)" >&2 && return 1; }
  root=$PWD/build/apt/$1-$2
  if [ ! -f "$root/apt.conf" ]; then
    case $1 in
    *-security) mirror=$(env -u APT_CONFIG scripts/archive debian-security) || return 1 ;;
    *) mirror=$(env -u APT_CONFIG scripts/archive debian) || return 1 ;;
    esac
    mkdir -p "$root/lists/partial" "$root/archives/partial" "$root/none"
    kind=deb native=$2
    [ "$2" != source ] || kind=deb-src native=amd64
    echo "$kind [signed-by=$keyring] $mirror $1 main" >"$root/sources.list"
    cat >"$root/apt.conf.new" <<CONF
Dir::State "$root";
Dir::State::Lists "$root/lists";
Dir::State::status "/dev/null";
Dir::Cache "$root";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
Dir::Etc "$root";
Dir::Etc::SourceList "$root/sources.list";
Dir::Etc::SourceParts "$root/none";
Dir::Etc::Parts "$root/none";
Dir::Etc::PreferencesParts "$root/none";
APT::Architecture "$native";
APT::Architectures { "$native"; };
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::GzipIndexes "true";
Acquire::Retries "2";
Acquire::http::Timeout "20";
CONF
    APT_CONFIG=$root/apt.conf.new timeout 120 apt-get -q update >"$root/log" 2>&1 || { why_not "$root/log" $?; return 1; }
    mv "$root/apt.conf.new" "$root/apt.conf"
  fi
  export APT_CONFIG="$root/apt.conf"
  shift 2
  "$@"
}

# Unpack packages of the current apt root into a directory that is there only if all of them are. A package that cannot be
# had may have been replaced in the archive since the lists were fetched: the next try fetches the lists again.
download() { # DIRECTORY PACKAGE...
  unpacked=$1
  shift
  rm -rf "$APT_CONFIG.d" "$unpacked.new"
  mkdir -p "$APT_CONFIG.d" "$unpacked.new"
  (cd "$APT_CONFIG.d" && timeout 200 apt-get -q download "$@" >log 2>&1) ||
    { why_not "$APT_CONFIG.d/log" $?; rm -f "$APT_CONFIG"; return 1; }
  for deb in "$APT_CONFIG.d"/*.deb; do
    dpkg-deb -x "$deb" "$unpacked.new" || return 1
    rm -f "$deb"
  done
  rm -rf "$unpacked"
  mv "$unpacked.new" "$unpacked"
}
