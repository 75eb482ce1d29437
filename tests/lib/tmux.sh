# shellcheck shell=bash
# For tests of what people look at: a terminal of tmux's, keys that are typed into it, and what it shows.
# Nothing here waits for a time: what is waited for is seen, or it is a failure after 30 seconds.

command -v tmux >/dev/null 2>&1 || skip_all "there is no tmux"
unset NO_COLOR LC_ALL LC_CTYPE TMUX

# A shell's, root's or not, with nothing behind it.
PROMPT='^[$#] *$'

terminals=0 # a server each: one that ends may take the next one's socket with it

tm() {
  tmux -S "$TEST_DIR/tmux$terminals" -f /dev/null -u "$@"
}

# terminal COLUMNS ROWS: with a shell in it.
terminal() {
  end_terminal
  terminals=$((terminals + 1))
  LANG=C.UTF-8 tm new-session -d -x "$1" -y "$2" "cd '$PWD' && exec env -u BASH_ENV sh -i"
  tm set-option -g status off >/dev/null
  tm resize-window -x "$1" -y "$2" >/dev/null
  waits 'for the shell' "$PROMPT"
}

end_terminal() {
  tm kill-server 2>/dev/null
}

picture() {
  tm capture-pane -p 2>&1
}

press() { # KEY...
  tm send-keys "$@"
}

# A line for the shell in it.
enter() { # LINE
  tm send-keys -l "$1"
  tm send-keys Enter
}

shows() { # PATTERN
  picture | grep -Eq -- "$1"
}

waits() { # WHAT PATTERN
  local i
  for ((i = 0; i < 300; i++)); do
    shows "$2" && return 0
    sleep 0.1
  done
  comment "waited in vain $1: $2"
  comment "$(picture)"
  return 1
}

sees() { # WHAT PATTERN
  if waits "to see" "$2"; then pass "$1"; else fail "$1"; fi
}

sees_no() { # WHAT PATTERN
  local i
  for ((i = 0; i < 300; i++)); do
    shows "$2" || {
      pass "$1"
      return
    }
    sleep 0.1
  done
  comment "$(picture)"
  fail "$1"
}
