complete -c pi-ls -l limit -d 'Entries to list at most [default: 500]' -r
complete -c pi-ls -s o -l output -d 'What to print: the structured content, the whole result, or the text a model reads' -r -f -a "json\t'The structured content, one line of JSON'
result\t'The whole result object: content, details, structuredContent, isError'
text\t'The text a model would read, raw'"
complete -c pi-ls -l args -d 'The tool call\'s arguments as JSON: a value, @FILE, or - for a stream of values on stdin' -r
complete -c pi-ls -s C -d 'Resolve relative paths against DIR' -r -F
complete -c pi-ls -l color -d 'When to colour and lay out JSON for people' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c pi-ls -s l -l long -d 'Add size and time of the last change to each entry'
complete -c pi-ls -l schema -d 'Print the tool\'s declaration and leave'
complete -c pi-ls -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pi-ls -s V -l version -d 'Print version'
