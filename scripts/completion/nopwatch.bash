# shellcheck shell=bash
# bash completion for nopwatch, which is asked what may stand where the cursor is.

_nopwatch() {
  local line=${COMP_LINE:0:COMP_POINT} words=() word start='' reply i

  # bash takes words apart at : and =, which are in the middle of ours
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $i != 0 && $line != [[:blank:]]* ]]; then
      start=${words[-1]}
      unset 'words[-1]'
    fi
    line=${line#"${line%%[![:blank:]]*}"}
    [[ ${#word} -le ${#line} ]] || word=$line
    words+=("$start$word")
    start='' line=${line:${#word}}
  done
  word=${words[-1]}
  # what stands before the last : or = is not part of the word that is replaced
  local kept=${word%"${word##*[:=]}"}
  [[ $COMP_WORDBREAKS == *:* ]] || kept=''

  COMPREPLY=()
  while IFS= read -r reply; do
    case $reply in
      @file)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "${word#"$kept"}")
        ;;
      @command)
        if declare -F _command_offset >/dev/null; then
          for ((i = 0; i < COMP_CWORD; i++)); do
            [[ ${COMP_WORDS[i]} == -- ]] && break
          done
          _command_offset $((i + 1))
        else
          mapfile -t COMPREPLY < <(compgen -c -- "$word")
        fi
        ;;
      *)
        reply=${reply%%$'\t'*}
        [[ $reply == *[:/=] ]] && compopt -o nospace
        COMPREPLY+=("${reply#"$kept"}")
        ;;
    esac
  done < <("${words[0]}" __complete "${words[@]:1}" 2>/dev/null)
}

complete -F _nopwatch nopwatch
