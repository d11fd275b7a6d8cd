complete -c pi-bash -l timeout -d 'Seconds after which the command and all it started are killed; no limit if left out' -r
complete -c pi-bash -l shell -d 'Shell to use: a path, or a name on PATH [default: /bin/bash, else bash, else sh]' -r -F
complete -c pi-bash -l prefix -d 'Commands to run first, on a line of their own in the same shell' -r
complete -c pi-bash -s o -l output -d 'What to print: the structured content, the whole result, or the text a model reads' -r -f -a "json\t'The structured content, one line of JSON'
result\t'The whole result object: content, details, structuredContent, isError'
text\t'The text a model would read, raw'"
complete -c pi-bash -l args -d 'The tool call\'s arguments as JSON: a value, @FILE, or - for a stream of values on stdin' -r
complete -c pi-bash -s C -d 'Resolve relative paths against DIR' -r -F
complete -c pi-bash -l color -d 'When to colour and lay out JSON for people' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c pi-bash -l stream -d 'Copy the output to standard error as it comes'
complete -c pi-bash -l hide-session -d 'Tell the command nothing of the agent\'s session it runs in'
complete -c pi-bash -l schema -d 'Print the tool\'s declaration and leave'
complete -c pi-bash -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pi-bash -s V -l version -d 'Print version'
