# fish completion for nopwatch, which is asked what may stand where the cursor is.

function __nopwatch_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    for line in ($words[1] __complete $words[2..-1] "$word" 2>/dev/null)
        switch $line
            case @file
                set -l start (string match -r -- '^--[a-z-]*=' $word)
                for file in (__fish_complete_path (string replace -r -- '^--[a-z-]*=' '' $word))
                    echo "$start$file"
                end
            case @command
                set -l dashes (contains -i -- -- $words)
                complete -C (string join ' ' -- (string escape -- $words[(math $dashes + 1)..-1]) $word)
            case '*'
                echo $line
        end
    end
end

complete -c nopwatch -f -a '(__nopwatch_complete)'
