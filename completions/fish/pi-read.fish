complete -c pi-read -l offset -d 'First line to show, counted from 1' -r
complete -c pi-read -l limit -d 'How many lines to show at most' -r
complete -c pi-read -l timeout -d 'Read at most so long; needed for named pipes, devices and terminals, which may never end' -r
complete -c pi-read -s o -l output -d 'What to print: the structured content, the whole result, or the text a model reads' -r -f -a "json\t'The structured content, one line of JSON'
result\t'The whole result object: content, details, structuredContent, isError'
text\t'The text a model would read, raw'"
complete -c pi-read -l args -d 'The tool call\'s arguments as JSON: a value, @FILE, or - for a stream of values on stdin' -r
complete -c pi-read -s C -d 'Resolve relative paths against DIR' -r -F
complete -c pi-read -l color -d 'When to colour and lay out JSON for people' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c pi-read -l no-resize -d 'Send images in their own size, however large'
complete -c pi-read -l schema -d 'Print the tool\'s declaration and leave'
complete -c pi-read -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pi-read -s V -l version -d 'Print version'
