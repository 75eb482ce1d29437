# shellcheck shell=sh disable=SC2154,SC2317,SC2329 # what is not set or used here is so in front of this
# What every script does; what is special about one stands in front of it. Needs a POSIX shell,
# cat, grep, mkdir and mount; rmdir for a ring buffer of its own; sleep for -d, for the end of -p's
# processes, and to notice early that nobody reads any more; wc to compare sizes; umount to unmount
# what it mounted.
set -u
LC_ALL=C
export LC_ALL

nw_group=${nw_id}_$$ # of its events, and the name of its instance; completed by nw_identify
nw_top=              # tracefs
nw_dir=              # the instance, or nw_top
nw_mounted=          # what it had to mount
nw_instance=         # the instance it made
nw_events=           # that may be defined
nw_closed=           # that have a semaphore which nobody raises
nw_cat=              # the reader
nw_helpers=          # other processes
nw_old=              # what the top-level buffer was set to: "NAME VALUE", a line each
nw_note=             # the file that says the same, for whoever comes after a kill -9
nw_counting=         # set: the kernel counts, and all triggers are set
nw_inner=            # set: $$ is not the kernel's number
nw_heirs=            # set: the kernel follows what -p's threads create
nw_newline='
'

nw_say() {
  printf 'nopwatch: %s\n' "$*" >&2
}

nw_die() {
  nw_say "$@"
  exit 1
}

nw_have() {
  command -v "$1" >/dev/null 2>&1
}

# Write a file of tracefs. Never uprobe_events: this truncates.
nw_put() {
  { printf '%s\n' "$2" >"$1"; } 2>/dev/null
}

nw_first_line() {
  nw_line=
  { IFS= read -r nw_line <"$1"; } 2>/dev/null
}

# What a file of tracefs is set to: its first line, or the word in brackets of those to choose from.
nw_value_of() {
  nw_first_line "$1"
  nw_value=$nw_line
  case $nw_line in *'['*']'*) nw_value=${nw_line#*'['} && nw_value=${nw_value%%']'*} ;; esac
}

# ---- who is who -------------------------------------------------------------------------------

# When a process was started, in the last six digits of clock ticks: with its number, that is it.
# Empty: it is gone.
nw_start_of() {
  nw_first_line "/proc/$1/stat"
  nw_line=${nw_line##*)}
  # shellcheck disable=SC2086 # words: what stands behind the name, which may hold anything
  set -- $nw_line
  [ $# -gt 20 ] || { nw_line= && return; }
  shift 19
  nw_line=000000$1
  while [ ${#nw_line} -gt 6 ]; do nw_line=${nw_line#?}; done
}

# A process's parent.
nw_parent_of() {
  nw_parent=
  while read -r nw_a nw_b _; do
    case $nw_a in PPid:) nw_parent=$nw_b && return ;; esac
  done 2>/dev/null <"/proc/$1/status"
}

# A child's number is not given away as long as its parent has not waited for it.
nw_is_child() {
  nw_parent_of "$1"
  [ "$nw_parent" = $$ ]
}

# In a process that the script has started: does the script live?
nw_is_wanted() {
  nw_parent_of self
  [ "$nw_parent" = $$ ]
}

# The group's name says whose it is, so that others know when it is nobody's. Where $$ is another
# namespace's number (the kernel's own threads are not seen there), nobody else could tell.
nw_identify() {
  nw_first_line /proc/2/comm
  if [ "$nw_line" = kthreadd ]; then
    nw_start_of $$
    nw_group=${nw_id}_$$_$nw_line
  else
    nw_inner=yes
    nw_group=${nw_id}_n$$
  fi
}

# ---- where everything is ----------------------------------------------------------------------

nw_look_at_mounts() {
  nw_top=
  while read -r _ nw_at nw_type _; do
    case $nw_type in
    tracefs) nw_top=$nw_at && return ;;
    debugfs) [ ! -e "$nw_at/tracing/uprobe_events" ] || nw_top=$nw_at/tracing ;;
    esac
  done </proc/mounts
}

# TYPE DIRECTORY
nw_mount() {
  [ -d "$2" ] && mount -t "$1" nodev "$2" 2>/dev/null || return 1
  nw_mounted=$2
  nw_look_at_mounts
  [ -n "$nw_top" ]
}

# DIRECTORY MODE: is it root's, with such a mode, so that nobody else can have put something there?
nw_is_roots() {
  # shellcheck disable=SC2046 # MODE, LINKS, OWNER
  set -- "$2" $(ls -ldn "$1" 2>/dev/null)
  [ "${4:-}" = 0 ] || return 1
  # shellcheck disable=SC2254 # it is a pattern
  case $2 in $1) ;; *) return 1 ;; esac
}

nw_find_tracefs() {
  [ -r /proc/mounts ] || mount -t proc proc /proc 2>/dev/null || nw_die "there is no /proc"
  nw_state=/run/nopwatch
  if [ -n "${NOPWATCH_STATE_DIR:-}" ]; then
    nw_is_roots "$NOPWATCH_STATE_DIR/." 'd????-??-*' || nw_is_roots "$NOPWATCH_STATE_DIR/." 'd????????[tT]*' ||
      nw_die "cannot keep files in '$NOPWATCH_STATE_DIR': other users can rename what is in it"
    nw_state=$NOPWATCH_STATE_DIR/nopwatch-0
  fi
  nw_top=${NOPWATCH_TRACEFS:-}
  [ -n "$nw_top" ] || nw_look_at_mounts
  [ -n "$nw_top" ] || nw_mount tracefs /sys/kernel/tracing || nw_mount debugfs /sys/kernel/debug ||
    nw_mount tracefs /sys/kernel/debug/tracing ||
    nw_die "tracefs is not mounted, and cannot be mounted (not root, a container, or a kernel without ftrace)"
  [ -e "$nw_top/uprobe_events" ] || {
    [ -r "$nw_top/trace" ] || nw_die "may not use $nw_top: run this as root"
    nw_die "this kernel has no uprobe_events (CONFIG_UPROBE_EVENTS)"
  }
  [ -w "$nw_top/uprobe_events" ] || nw_die "may not write $nw_top/uprobe_events: run this as root"
}

nw_kernel_has() {
  grep -qF -e "$1" "$nw_top/README" 2>/dev/null
}

# ---- is it the same file? ---------------------------------------------------------------------

nw_other_file() {
  nw_say "$1 is not the file that this script was made for: $2"
  [ -n "$nw_force" ] || exit 1
}

# Are these bytes in the line behind so many newlines?  PATH NEWLINES BYTES
nw_has_bytes() {
  nw_n=0
  {
    while [ "$nw_n" -lt "$2" ]; do
      IFS= read -r nw_line || return 1
      nw_n=$((nw_n + 1))
    done
    IFS= read -r nw_line || [ -n "$nw_line" ] || return 1
  } <"$1"
  nw_bytes=$(printf '%b' "$3")
  case $nw_line in
  *"$nw_bytes"*) return 0 ;;
  esac
  return 1
}

# NUMBER PATH SIZE NEWLINES ID_LINE ID_BYTES FD: ID_LINE -1: it has none; FD 0: the kernel can take the path
nw_file() {
  [ -f "$2" ] || nw_die "there is no file '$2'"
  if nw_have wc; then
    nw_n=$(wc -c <"$2")
    [ "$((nw_n))" = "$3" ] || nw_other_file "'$2'" "its size is $((nw_n)), not $3"
  fi
  nw_n=$(grep -ac '' <"$2" 2>/dev/null)
  case $nw_n in
  '' | *[!0-9]*) ;; # a grep without -a
  *) [ "$nw_n" = "$4" ] || nw_other_file "'$2'" "its content is another" ;;
  esac
  [ "$5" = -1 ] || nw_has_bytes "$2" "$5" "$6" || nw_other_file "'$2'" "its build-id is another"
  if [ "$7" != 0 ]; then
    eval "exec $7<\"\$2\""
    eval "nw_path$1=/proc/$$/fd/$7"
  else
    eval "nw_path$1=\$2"
  fi
}

# ---- events -----------------------------------------------------------------------------------

# The kernel's reason for the last refusal, if it tells one.
nw_reason() {
  nw_why=
  while IFS= read -r nw_line; do
    case $nw_line in
    *'error: '*) nw_why=": ${nw_line##*error: }" ;;
    esac
  done 2>/dev/null <"$nw_top/error_log"
}

# One definition, one write, always appended: to open this file in another way deletes what
# everybody has defined.
nw_append() {
  { printf '%s\n' "$1" >>"$nw_top/uprobe_events"; } 2>/dev/null
}

# Which arguments of nw_spec the kernel takes, each tried by itself: both ends of a span have to keep the stack
# frame that they are paired by, whatever else an old kernel refuses.  NAME ARGUMENTS
nw_find_taken() {
  nw_taken=
  nw_refused=
  set -f # "u8[4]" is no pattern
  for nw_arg in $2; do
    if nw_append "$nw_spec$nw_taken $nw_arg"; then
      nw_taken="$nw_taken $nw_arg"
      nw_append "-:$nw_group/$1"
    else
      nw_refused="$nw_refused ${nw_arg%%=*}"
    fi
  done
  set +f
}

# p|r NAME FILE OFFSET SEMAPHORE ARGUMENTS
nw_event() {
  eval "nw_spec=\$nw_path$3"
  nw_spec="$1:$nw_group/$2 $nw_spec:$4"
  if [ -n "$5" ]; then
    if [ -n "$nw_ref_ctr" ]; then nw_spec="$nw_spec($5)"; else nw_closed="$nw_closed $2"; fi
  fi
  case $nw_counts$6 in
  yes*=\\*)
    # Before 5.14 a key that is a sum has no size (parse_expr() in kernel/trace/trace_events_hist.c).
    nw_kernel_has '.buckets=size' ||
      nw_die "calls are paired by their frames, which needs Linux 5.14: pair them by thread (script --span NAME=START..END,nest=no)"
    ;;
  esac
  nw_events="$nw_events $2"
  nw_append "$nw_spec${6:+ $6}" && return
  nw_reason
  [ -z "$nw_counts" ] || nw_die "the kernel refused $2, and what it counts belongs together$nw_why"
  nw_find_taken "$2" "$6"
  if [ -n "$nw_refused" ] && nw_append "$nw_spec$nw_taken"; then
    nw_say "$2 is recorded without$nw_refused: the kernel does not take that$nw_why"
    return
  fi
  nw_events=${nw_events% "$2"}
  nw_say "$2 is left out: the kernel refused it$nw_why"
}

nw_define() {
  nw_ref_ctr=
  if nw_kernel_has '(ref_ctr_offset)'; then nw_ref_ctr=yes; fi
  nw_events_of_this
  [ -n "$nw_events" ] || nw_die "no probe could be defined"
  [ -z "$nw_closed" ] || nw_say "this kernel cannot raise semaphores: of these, those that wait for theirs stay silent:$nw_closed"
}

# ---- the ring buffer --------------------------------------------------------------------------

# An instance of its own, unless this kernel has none. A signal may come at any moment: while nw_instance has a name, nw_dir is not
# the top level, where others record.
nw_make_instance() {
  if [ -z "${NOPWATCH_TOP:-}" ] && [ -d "$nw_top/instances" ] && nw_have rmdir; then
    nw_dir=$nw_top/instances/$nw_group
    nw_instance=$nw_dir
    mkdir "$nw_instance" 2>/dev/null && return
    nw_instance=
  fi
  nw_dir=$nw_top
}

# Kernels that record uprobes in the top-level buffer only (before 3.15, RHEL 7) have no
# triggers for them.
nw_check_instance() {
  if [ -n "$nw_instance" ]; then
    for nw_one in $nw_events; do
      [ -e "$nw_instance/events/$nw_group/$nw_one/trigger" ] && return
      break
    done
    rmdir "$nw_instance" && nw_instance=
  fi
  nw_dir=$nw_top
  [ -z "$nw_counts" ] || nw_die "this kernel has no ring buffers of one's own, which --engine=kernel needs"
  nw_say "the top-level ring buffer is used, since there is no other; what it holds is printed, too"
  for nw_one in $nw_events; do
    for nw_at in "$nw_top/events"/*/"$nw_one/enable"; do
      case $nw_at in */"$nw_group"/*) continue ;; esac
      nw_first_line "$nw_at"
      case $nw_line in
      1*) nw_die "${nw_at%/enable} is enabled there and has the same name as one of ours: they could not be told apart" ;;
      esac
    done
  done
  for nw_one in $nw_noted; do
    nw_value_of "$nw_dir/${nw_one#*:}"
    [ -z "$nw_value" ] || nw_old="$nw_old${nw_one%%:*} $nw_value$nw_newline"
  done
  nw_write_note
}

# Before the first setting of the top-level buffer is changed, in a directory in which nopwatch looks, too.
nw_write_note() {
  if [ -n "$nw_pids" ]; then # of which there may have been none
    # shellcheck disable=SC2046 # in one line
    [ ! -e "$nw_dir/set_event_pid" ] || set -- $(cat "$nw_dir/set_event_pid")
    nw_old="${nw_old}pids $*$nw_newline"
  fi
  [ -d "${nw_state%/*}" ] || return
  mkdir -m 700 "$nw_state" 2>/dev/null
  nw_is_roots "$nw_state" 'd????-??-*' || return
  nw_note=$nw_state/${nw_group#nopwatch_}.top
  { printf '%send\n' "$nw_old" >"$nw_note"; } 2>/dev/null
}

# A clock that all CPUs share. To change it empties the buffer, so it is only changed if need be.
nw_set_clock() {
  nw_first_line "$nw_dir/trace_clock"
  nw_clocks=" $nw_line "
  for nw_clock in $nw_clocks_wanted; do
    case $nw_clocks in
    *"[$nw_clock]"*) return ;;
    *" $nw_clock "*) nw_put "$nw_dir/trace_clock" "$nw_clock" && return ;;
    esac
  done
  nw_say "the clocks of this kernel's CPUs may differ: latencies across CPUs may be wrong"
}

nw_set_buffer() {
  [ -n "$nw_instance" ] || return
  # Resizing an instance leaves the top-level buffer at its boot size for good on some kernels (4.9 to 6.1 seen), unless
  # something was written to an `enable` file before: that expands it.
  nw_put "$nw_dir/events/enable" 0
  for nw_kb in "$nw_buffer_kb" $((nw_buffer_kb / 4)); do
    nw_put "$nw_dir/buffer_size_kb" "$nw_kb" && return
  done
  nw_say "the ring buffer stays as small as it is: it could not be made $nw_buffer_kb KiB per CPU"
}

# ---- which processes --------------------------------------------------------------------------

# All threads of the processes; what they create is followed where the kernel can.
nw_set_pids() {
  [ -n "$nw_pids" ] || return
  nw_filter=
  nw_follow=
  [ -z "$nw_inner" ] || nw_die "inside a PID namespace the kernel has other numbers for processes: run this on the host, or make it without -p"
  [ ! -e "$nw_dir/set_event_pid" ] || nw_follow=yes
  if [ -n "$nw_follow" ]; then
    if nw_put "$nw_dir/options/event-fork" 1; then nw_heirs=yes; else nw_say "threads that are made later are not seen"; fi
  fi
  for nw_pid in $nw_pids; do
    [ -d "/proc/$nw_pid" ] || nw_die "there is no process $nw_pid"
    for nw_task in "/proc/$nw_pid/task"/* "/proc/$nw_pid/task"/*; do # twice: for those made meanwhile
      nw_task=${nw_task##*/}
      if [ -n "$nw_follow" ]; then
        { printf '%s ' "$nw_task" >>"$nw_dir/set_event_pid"; } 2>/dev/null
      else
        case "$nw_filter|" in *"==$nw_task|"*) ;; *) nw_filter="${nw_filter:+$nw_filter||}common_pid==$nw_task" ;; esac
      fi
    done
  done
  # births say whose a thread is, in a buffer of its own; else its lines do, if at all
  [ -n "$nw_instance" ] && [ -e "$nw_dir/events/task/task_newtask" ] || [ -e "$nw_dir/options/record-tgid" ] || [ -z "$nw_heirs" ] ||
    nw_say "this kernel does not tell processes from threads: children are counted, too"
  [ -n "$nw_filter" ] || return
  nw_say "threads that are made later are not seen"
  for nw_one in $nw_events; do
    nw_put "$nw_dir/events/$nw_group/$nw_one/filter" "$nw_filter" ||
      nw_die "this kernel cannot restrict $nw_one to these processes"
  done
}

# ---- on and off -------------------------------------------------------------------------------

# Recording is on, and the filters are set, before the first is armed: to arm raises semaphores, and a
# program that waits for its own is hit at once.
nw_arm() {
  nw_armed=
  nw_before_arming
  nw_start=$(nw_now)
  if [ -n "$nw_counts" ]; then nw_set_hists; return; fi
  for nw_one in $nw_events; do
    if nw_put "$nw_dir/events/$nw_group/$nw_one/enable" 1; then
      nw_armed=yes
    else
      nw_say "$nw_one is left out: the kernel would not arm it"
      nw_put "$nw_dir/events/$nw_group/$nw_one/enable" 0
    fi
  done
  [ -n "$nw_armed" ] || nw_die "no probe could be armed"
}

# Who is meant, for the reader: there are kernels that take a filter and ignore it (3.13).
nw_tell_pids() {
  for nw_pid in $nw_pids; do
    printf '#nw only %s\n' "$nw_pid"
    for nw_task in "/proc/$nw_pid/task"/*; do
      printf '#nw task %s %s ?\n' "${nw_task##*/}" "$nw_pid"
    done
  done
  [ -z "$nw_pids" ] || [ -z "$nw_follow" ] || printf '#nw restricted\n'
}

# Nothing is recorded any more when the first is disarmed: between the first and the last, starts
# would have no ends, and ends would be paired with starts of long ago. The mark stands behind the last
# hit that counts.
nw_stop_recording() {
  nw_put "$nw_dir/trace_marker" 'nopwatch stop'
  nw_put "$nw_dir/tracing_on" 0
}

nw_disarm() {
  [ -z "$nw_counts" ] || nw_remove_hists "$nw_group"
  for nw_one in $nw_events; do
    [ ! -e "$nw_dir/events/$nw_group/$nw_one/enable" ] || nw_put "$nw_dir/events/$nw_group/$nw_one/enable" 0
  done
  nw_after_disarming
}

# ---- the kernel counts -------------------------------------------------------------------------

# Can it? Without rows of equal width (before 5.14) maps are eighths of powers of two, which 32-bit kernels cut at 2^32.
nw_check_counting() {
  nw_lacks=
  nw_rows=buckets
  nw_kernel_has '.buckets=size' || nw_rows=eighths
  if ! nw_kernel_has 'hist trigger'; then
    nw_lacks='no hist triggers (built without CONFIG_HIST_TRIGGERS, or before Linux 4.17)'
  elif [ ! -e "$nw_top/synthetic_events" ]; then
    nw_lacks='no synthetic events (built without CONFIG_SYNTH_EVENTS, or before Linux 4.17)'
  elif [ ! -d "$nw_top/instances" ] || ! grep -qw mono "$nw_top/trace_clock"; then
    nw_lacks="no ring buffers of one's own, or no trace clock mono"
  elif [ "$nw_rows" = eighths ] && grep -q 'local_t commit;.*size:4;' "$nw_top/events/header_page" 2>/dev/null; then
    nw_lacks='32 bits and hist triggers without .buckets=size (Linux 5.14)'
  fi
  [ -z "$nw_lacks" ] ||
    nw_die "this kernel cannot count by itself (--engine=kernel): it has $nw_lacks; a script that is made without --engine=kernel reads each hit"
}

# DEFINITION
nw_synthetic() {
  { printf '%s\n' "$1" >>"$nw_top/synthetic_events"; } 2>/dev/null && return
  nw_reason
  nw_die "the kernel refuses the synthetic event '$1'$nw_why"
}

# SYSTEM EVENT TRIGGER FILTER PAUSED: those without variables begin to count when all are set.
nw_hist() {
  if [ "$nw_round" = cont ] && [ -z "$5" ]; then return; fi
  nw_text=$3${5:+:$nw_round}${4:+ if $4}
  { printf '%s\n' "$nw_text" >>"$nw_dir/events/$1/$2/trigger"; } 2>/dev/null && return
  nw_reason
  nw_die "the kernel refuses to count by itself: '$nw_text' of $2$nw_why"
}

# FILE TEXT: for each event.
nw_put_each() {
  for nw_one in $nw_events; do
    nw_put "$nw_dir/events/$nw_group/$nw_one/$1" "$2" && continue
    nw_reason
    nw_die "the kernel refuses to count by itself: '$2' in $1 of $nw_one$nw_why"
  done
}

# Events are armed before they have triggers: a first trigger would arm its event itself, and where that fails, as when this shell is
# killed meanwhile, the kernel keeps the event in soft mode for good. No record passes the filter, which triggers come in front of.
nw_set_hists() {
  nw_synthetic_of_this
  nw_put_each filter 'common_type == 0'
  nw_put_each enable 1
  for nw_round in pause cont; do "nw_hists_$nw_rows"; done
  nw_put_each enable 0
  nw_counting=yes
}

# FILE WORD: take the triggers away that have this word.
nw_remove_of() {
  nw_list=$(cat "$1" 2>/dev/null)$nw_newline
  while [ -n "$nw_list" ]; do
    nw_line=${nw_list%%"$nw_newline"*}
    nw_list=${nw_list#*"$nw_newline"}
    case $nw_line in
    hist:*"$2"*)
      { printf '!%s\n' "${nw_line%% \[*}" >>"$1"; } 2>/dev/null || nw_say "a hist trigger stays in $1"
      ;;
    esac
  done
}

# GROUP: its triggers go before what they refer to: maps of latencies, ends of spans, starts, synthetic events.
nw_remove_hists() {
  [ -d "$nw_top/events/synthetic/$1" ] || return
  for nw_at in "$nw_dir/events/synthetic/$1"_*/trigger; do nw_remove_of "$nw_at" ''; done
  for nw_word in ':onmatch(' ''; do
    for nw_at in "$nw_dir/events/$1"/*/trigger; do nw_remove_of "$nw_at" "$nw_word"; done
  done
  for nw_at in "$nw_top/events/synthetic/$1"_* "$nw_top/events/synthetic/$1"; do
    [ -d "$nw_at" ] || continue
    nw_at=${nw_at##*/}
    { printf '!%s\n' "$nw_at" >>"$nw_top/synthetic_events"; } 2>/dev/null || nw_say "the synthetic event $nw_at stays"
  done
}

# SYSTEM EVENT NAME: what its triggers have counted. It is printed when the reader has ended.
nw_map() {
  nw_maps="$nw_maps#nw map $1 $3$nw_newline$(cat "$nw_dir/events/$1/$2/hist" 2>/dev/null)$nw_newline"
}

# A name as a word of the header: what is not plain is %XX.
nw_escape() {
  nw_word=
  nw_rest=$1
  while [ -n "$nw_rest" ]; do
    nw_char=${nw_rest%"${nw_rest#?}"}
    nw_rest=${nw_rest#?}
    case $nw_char in
    [a-zA-Z0-9._/:+@=-]) nw_word=$nw_word$nw_char ;;
    *) nw_word=$nw_word%$(printf '%02X' "$(($(printf '%d' "'$nw_char") & 255))") ;;
    esac
  done
  [ -n "$nw_word" ] || nw_word=-
}

# The threads that live now, with their names; of -p's processes only, if there are any.
nw_list_tasks() {
  for nw_at in /proc/[0-9]*/task/[0-9]*; do
    nw_pid=${nw_at#/proc/} && nw_pid=${nw_pid%%/*}
    case " ${nw_pids:-$nw_pid} " in *" $nw_pid "*) ;; *) continue ;; esac
    nw_first_line "$nw_at/comm"
    [ -n "$nw_line" ] || continue
    nw_escape "$nw_line"
    printf '#nw task %s %s %s\n' "${nw_at##*/}" "$nw_pid" "$nw_word"
  done
}

# What the kernel has counted, in the order that no span lacks its start; then who the threads are.
nw_take_counts() {
  nw_maps=
  nw_maps_of_this
  [ -z "$nw_tasks" ] || [ -n "$nw_inner" ] || nw_maps="$(nw_list_tasks)$nw_newline$nw_maps"
}

# The trace clock now: "now ts: 1234.567890" of a CPU.
nw_now() {
  for nw_at in "$nw_dir/per_cpu"/cpu*/stats; do
    while read -r nw_a nw_b nw_c; do
      case "$nw_a $nw_b" in 'now ts:') printf '%s\n' "$nw_c" && return ;; esac
    done 2>/dev/null <"$nw_at"
    return
  done
}

# Events that were overwritten or dropped, on all CPUs.
nw_lost() {
  nw_n=0
  for nw_at in "$nw_dir/per_cpu"/cpu*/stats; do
    while IFS=': ' read -r nw_a nw_b nw_c _; do
      case "$nw_a $nw_b" in
      'overrun '*) nw_n=$((nw_n + nw_b)) ;;
      'commit overrun' | 'dropped events') nw_n=$((nw_n + ${nw_c:-0})) ;;
      esac
    done 2>/dev/null <"$nw_at"
  done
  printf '#nw lost %s\n' "$nw_n"
}

# ---- beside the reader ------------------------------------------------------------------------

# sleep, in a process that takes it away when it is ended itself.
nw_nap() {
  sleep "$1" &
  nw_napping=$!
  trap 'kill "$nw_napping" 2>/dev/null; exit' TERM
  wait "$nw_napping"
}

# A line now and then, so that time goes on for the reader, and a reader that has gone is noticed:
# cat dies of it. When the last process of -p is gone, it ends, too.
nw_watch() {
  while nw_nap 1 && nw_is_wanted; do
    nw_put "$nw_dir/trace_marker" 'nopwatch beat'
    [ -n "$nw_pids" ] || continue
    nw_left=
    for nw_pid in $nw_pids; do
      [ ! -d "/proc/$nw_pid" ] || nw_left=yes
    done
    [ -n "$nw_left" ] || ! nw_is_wanted || kill -TERM $$
  done
  nw_bury
}

# It stays until it is ended, so that its number stays its own.
nw_time_out() {
  nw_nap "$nw_seconds" || nw_nap $((${nw_seconds%.*} + 1))
  if nw_is_wanted; then kill -TERM $$; fi
  while nw_is_wanted; do nw_nap 1; done
}

nw_process_group() { # PID
  nw_first_line "/proc/$1/stat"
  # shellcheck disable=SC2086 # words: STATE PARENT GROUP ...
  set -- ${nw_line##*)}
  echo "$3"
}

# The reader of a script that was killed has trace_pipe as its standard input, as nobody else has it of a script's own instance; the
# top-level one may be read by others, who are in another process group. Before Linux 5.6 only a signal ends it, and before 5.9
# no instance can be removed while it is there.
nw_end_readers() { # [GROUP]
  for nw_at in /proc/[0-9]*; do
    # shellcheck disable=SC3013 # shells have it; one without it leaves the reader alone
    [ "$nw_at/fd/0" -ef "$nw_dir/trace_pipe" ] || continue
    nw_pid=${nw_at#/proc/}
    if [ -z "$1" ] || [ "$(nw_process_group "$nw_pid")" = "$1" ]; then kill -TERM "$nw_pid"; fi
  done 2>/dev/null
}

# The script was killed (-9): the reader goes, and all that was made.
nw_bury() {
  trap '' HUP INT TERM PIPE
  nw_stop_recording
  nw_disarm
  nw_end_readers "$(nw_process_group self)"
  [ -z "$nw_old" ] || nw_restore
  nw_delete
  nw_n=0
  while [ -n "$nw_instance" ] && [ "$nw_n" -lt 20 ]; do
    rmdir "$nw_instance" 2>/dev/null && break
    nw_n=$((nw_n + 1))
    nw_nap 0.2 2>/dev/null || nw_nap 1
  done
}

# It is there before the reader: whenever the script is killed, somebody ends that.
nw_start_watch() {
  if nw_have sleep; then
    nw_watch </dev/null >/dev/null 2>&1 &
    nw_helpers=$!
  elif [ -n "$nw_seconds$nw_pids" ]; then
    nw_say "there is no sleep here: end this by Ctrl-C"
  fi
}

# The time begins with the reader.
nw_start_clock() {
  if [ -z "$nw_seconds" ] || [ -z "$nw_helpers" ]; then return; fi
  nw_time_out </dev/null >/dev/null 2>&1 &
  nw_helpers="$nw_helpers $!"
}

# Has the reader taken everything out of the buffer, and is it not writing it?
nw_is_read() {
  for nw_at in "$nw_dir/per_cpu"/cpu*/stats; do
    nw_first_line "$nw_at"
    [ "$nw_line" = 'entries: 0' ] || return 1
  done
  nw_first_line "/proc/$nw_cat/wchan" || : # has no newline
  case $nw_line in
  pipe_w* | *sock* | *tty*) return 1 ;;
  esac
}

# A reader ends when it has read something and recording is off. Kernels before 6.1 do not wake
# it then: an event does. Older ones look whether recording is off in the top-level buffer: there
# it has to be killed when it has nothing left to do.
nw_end_reader() {
  nw_n=0
  while [ "$nw_n" -lt 2 ]; do
    kill -0 "$nw_cat" 2>/dev/null || return
    nw_put "$nw_dir/tracing_on" 1
    nw_put "$nw_dir/trace_marker" 'nopwatch end'
    nw_put "$nw_dir/tracing_on" 0
    nw_nap 0.3 2>/dev/null || nw_nap 1 # some know whole seconds only
    if nw_is_read; then nw_n=$((nw_n + 1)); else nw_n=0; fi
  done
  if nw_is_child "$nw_cat"; then kill -TERM "$nw_cat"; fi
}

# What is left in the buffer.
nw_drain() {
  trap 'kill -TERM "$nw_cat" 2>/dev/null' HUP INT TERM # a second signal does not wait
  nw_end_reader </dev/null >/dev/null 2>&1 &
  nw_waker=$!
  while kill -0 "$nw_cat" 2>/dev/null; do
    wait "$nw_cat" 2>/dev/null
  done
  trap '' HUP INT TERM
  if nw_is_child "$nw_waker"; then kill "$nw_waker" 2>/dev/null; fi
  wait "$nw_waker" 2>/dev/null
}

# ---- the end ----------------------------------------------------------------------------------

# NAME VALUE. What is as it was stays so: a clock that is written empties the buffer.
nw_restore_one() {
  if [ "$1" = pids ] && [ -e "$nw_top/set_event_pid" ]; then
    nw_put "$nw_top/set_event_pid" ''
    for nw_one in $2; do
      { printf '%s ' "$nw_one" >>"$nw_top/set_event_pid"; } 2>/dev/null
    done
  fi
  for nw_one in $nw_noted; do
    if [ "${nw_one%%:*}" != "$1" ] || [ -z "$2" ]; then continue; fi
    nw_value_of "$nw_top/${nw_one#*:}"
    [ "$nw_value" = "$2" ] || nw_put "$nw_top/${nw_one#*:}" "$2"
  done
}

# The settings of the top-level buffer, as $nw_old has them.
nw_restore() {
  nw_rest=$nw_old
  while [ -n "$nw_rest" ]; do
    nw_setting=${nw_rest%%"$nw_newline"*}
    nw_rest=${nw_rest#*"$nw_newline"}
    nw_restore_one "${nw_setting%% *}" "${nw_setting#* }"
  done
  [ -z "$nw_note" ] || rm -f "$nw_note"
}

# Each event by itself: the kernel refuses one that somebody else has enabled.
nw_delete() {
  for nw_one in $nw_events; do
    nw_append "-:$nw_group/$nw_one" && continue
    [ ! -d "$nw_top/events/$nw_group/$nw_one" ] ||
      nw_say "$nw_group/$nw_one stays: it is in use. Later: echo '-:$nw_group/$nw_one' >>$nw_top/uprobe_events"
  done
}

nw_unmount() {
  [ -n "$nw_mounted" ] || return
  umount "$nw_mounted" 2>/dev/null || nw_say "$nw_mounted stays mounted"
}

nw_end() {
  nw_status=$?
  trap - EXIT
  trap '' HUP INT TERM PIPE
  for nw_one in $nw_helpers; do
    if nw_is_child "$nw_one"; then kill "$nw_one" 2>/dev/null; fi
  done
  if [ -n "$nw_dir" ]; then
    [ -z "$nw_counting" ] || [ -z "$nw_cat" ] || nw_take_counts
    [ -z "$nw_instance$nw_old" ] || nw_stop_recording
    nw_stop=$(nw_now)
    [ -n "$nw_counting" ] || nw_disarm
    if [ -n "$nw_cat" ]; then
      nw_drain
      [ -z "$nw_counting" ] || printf '%s' "$nw_maps" 2>/dev/null
      { [ -z "$nw_instance" ] || nw_lost; printf '#nw stop %s\n' "$nw_stop"; } 2>/dev/null
    fi
    [ -z "$nw_counting" ] || nw_disarm # many triggers take a while, and the reader waits
    [ -z "$nw_old" ] || nw_restore
  fi
  nw_delete
  [ ! -d "$nw_instance" ] || rmdir "$nw_instance" 2>/dev/null || nw_say "$nw_instance stays: it is in use"
  nw_unmount
  exit "$nw_status"
}

# Is the script gone that has made this group? NAME_PID_START; before, NAME_PID.
nw_is_dead() {
  nw_who=${1#nopwatch_sh*_}
  nw_pid=${nw_who%%_*}
  case $nw_pid in '' | *[!0-9]*) return 1 ;; esac
  [ -z "$nw_inner" ] || return 1
  nw_start_of "$nw_pid"
  case $nw_who in
  *_*) [ "${nw_who#*_}" != "$nw_line" ] ;;
  *) [ -z "$nw_line" ] ;;
  esac
}

# What a script that was killed has left. Its reader ends when recording is off and something comes.
nw_sweep_group() {
  if [ -d "$nw_top/instances/$1" ]; then
    nw_dir=$nw_top/instances/$1
    nw_put "$nw_dir/trace_marker" 'nopwatch end'
    nw_put "$nw_dir/tracing_on" 0
    nw_put "$nw_dir/events/enable" 0
    nw_remove_hists "$1"
    nw_end_readers ''
    rmdir "$nw_dir" 2>/dev/null || { nw_nap 1 && rmdir "$nw_dir" 2>/dev/null; } || nw_say "instances/$1 stays: somebody reads it"
    nw_dir=
  else
    nw_put "$nw_top/events/$1/enable" 0
  fi
  for nw_event in "$nw_top/events/$1"/*/enable; do
    [ -e "$nw_event" ] || continue
    nw_event=${nw_event%/enable}
    nw_append "-:$1/${nw_event##*/}"
  done
  nw_say "removed what $1 had left"
}

# What the note of a dead script says. One without its end was not finished: nothing had been changed.
nw_put_back() {
  while IFS= read -r nw_line; do
    case $nw_line in
    end) nw_note=$1 ;;
    *) nw_old=$nw_old$nw_line$nw_newline ;;
    esac
  done <"$1"
  if [ -n "$nw_note" ]; then nw_restore; else rm -f "$1"; fi
  nw_old=
  [ -n "$nw_note" ] || return
  nw_note=
  nw_say "put back what ${1##*/} had noted"
}

nw_sweep() {
  for nw_at in "$nw_top/events"/nopwatch_sh*_* "$nw_top/instances"/nopwatch_sh*_*; do
    [ -d "$nw_at" ] && nw_is_dead "${nw_at##*/}" && nw_sweep_group "${nw_at##*/}"
  done
  for nw_at in "$nw_state"/sh*_*.top; do
    nw_one=${nw_at##*/}
    [ -f "$nw_at" ] && [ ! -h "$nw_at" ] && nw_is_roots "$nw_state" 'd????-??-*' && nw_is_dead "nopwatch_${nw_one%.top}" && nw_put_back "$nw_at"
  done
}

# ---- all of it --------------------------------------------------------------------------------

nw_main() {
  trap nw_end EXIT
  trap 'exit 0' HUP INT TERM PIPE
  nw_find_tracefs
  nw_identify
  [ -z "$nw_counts" ] || nw_check_counting
  nw_sweep
  nw_files
  nw_make_instance
  nw_define
  nw_check_instance
  nw_set_clock
  nw_set_buffer
  nw_set_pids
  nw_arm
  nw_header
  nw_tell_pids
  [ -z "$nw_counts" ] || printf '#nw rows %s\n' "$nw_rows"
  printf '#nw start %s\n#nw end\n' "$nw_start"
  nw_start_watch
  cat <"$nw_dir/trace_pipe" &
  nw_cat=$!
  nw_start_clock
  # said once nothing can be lost by it: who ends this now gets all that is in the buffer
  nw_say "armed; Ctrl-C ends"
  wait "$nw_cat"
  nw_status=$?
  nw_cat= # there is nobody to drain the buffer for
  [ "$nw_status" -gt 128 ] || return "$nw_status" # else nobody reads any more
}

# In one piece, so that a script that was cut off on its way does nothing.
nw_main
