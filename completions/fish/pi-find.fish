complete -c pi-find -l limit -d 'Results at most [default: 1000; with -0 all]' -r
complete -c pi-find -s t -l type -d 'Only entries of this type' -r -f -a "f\t'Regular files'
d\t'Directories'
l\t'Symbolic links'"
complete -c pi-find -s o -l output -d 'What to print: the structured content, the whole result, or the text a model reads' -r -f -a "json\t'The structured content, one line of JSON'
result\t'The whole result object: content, details, structuredContent, isError'
text\t'The text a model would read, raw'"
complete -c pi-find -l args -d 'The tool call\'s arguments as JSON: a value, @FILE, or - for a stream of values on stdin' -r
complete -c pi-find -s C -d 'Resolve relative paths against DIR' -r -F
complete -c pi-find -l color -d 'When to colour and lay out JSON for people' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c pi-find -s 0 -l print0 -d 'Print each path raw, DIR in front, with a NUL behind it: for xargs -0'
complete -c pi-find -l schema -d 'Print the tool\'s declaration and leave'
complete -c pi-find -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pi-find -s V -l version -d 'Print version'
