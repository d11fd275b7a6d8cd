complete -c pi-edit -l old -d 'Text to replace; --old and --new can be repeated, in pairs' -r
complete -c pi-edit -l new -d 'Text that takes its place, one for each --old' -r
complete -c pi-edit -l line -d 'Take the occurrence of the only --old that starts on line N' -r
complete -c pi-edit -s o -l output -d 'What to print: the structured content, the whole result, or the text a model reads' -r -f -a "json\t'The structured content, one line of JSON'
result\t'The whole result object: content, details, structuredContent, isError'
text\t'The text a model would read, raw'"
complete -c pi-edit -l args -d 'The tool call\'s arguments as JSON: a value, @FILE, or - for a stream of values on stdin' -r
complete -c pi-edit -s C -d 'Resolve relative paths against DIR' -r -F
complete -c pi-edit -l color -d 'When to colour and lay out JSON for people' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c pi-edit -l new-stdin -d 'Take the new text from standard input, its last line break included'
complete -c pi-edit -l all -d 'Replace every occurrence of the only --old'
complete -c pi-edit -l dry-run -d 'Work everything out and print the diff, but write nothing'
complete -c pi-edit -l atomic -d 'With --args -: apply all documents of the stream or none'
complete -c pi-edit -l schema -d 'Print the tool\'s declaration and leave'
complete -c pi-edit -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pi-edit -s V -l version -d 'Print version'
