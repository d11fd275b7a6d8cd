complete -c pi-grep -s g -l glob -d 'Only files that match this glob, or not when it starts with `!`; can be repeated' -r
complete -c pi-grep -l context -d 'Lines to show before and behind each match' -r
complete -c pi-grep -l limit -d 'Matching lines at most [default: 100; with --replace all]' -r
complete -c pi-grep -s e -l pattern -d 'A pattern; can be repeated, and a line that matches any of them matches' -r
complete -c pi-grep -l replace -d 'Print edits for pi-edit --args -, one line a file: each match becomes TEMPLATE ($1, ${name}, $$)' -r
complete -c pi-grep -s t -l type -d 'Only files of this type, such as rust or py (`!py`: others); can be repeated' -r
complete -c pi-grep -s o -l output -d 'What to print: the structured content, the whole result, or the text a model reads' -r -f -a "json\t'The structured content, one line of JSON'
result\t'The whole result object: content, details, structuredContent, isError'
text\t'The text a model would read, raw'"
complete -c pi-grep -l args -d 'The tool call\'s arguments as JSON: a value, @FILE, or - for a stream of values on stdin' -r
complete -c pi-grep -s C -d 'Resolve relative paths against DIR' -r -F
complete -c pi-grep -l color -d 'When to colour and lay out JSON for people' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c pi-grep -s i -l ignore-case -d 'Ignore case'
complete -c pi-grep -s F -l literal -d 'Take the pattern for plain text'
complete -c pi-grep -s U -l multiline -d 'Let matches span lines'
complete -c pi-grep -l schema -d 'Print the tool\'s declaration and leave'
complete -c pi-grep -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pi-grep -s V -l version -d 'Print version'
