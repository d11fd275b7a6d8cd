complete -c pi-session-export -l session-dir -d 'Look ids up in DIR [default: $PI_CODING_AGENT_SESSION_DIR, the setting sessionDir, or the directory of the working directory\'s sessions]' -r
complete -c pi-session-export -l to -d 'File to write, - for standard output [default: pi-session-NAME.html or .md in the working directory]' -r -F
complete -c pi-session-export -l format -d 'What to write [default: md when OUT ends with .md, else html]' -r -f -a "html\t'One self-contained page'
md\t'Markdown'"
complete -c pi-session-export -l leaf -d 'End at the entry ID in place of the session\'s own leaf' -r
complete -c pi-session-export -s o -l output -d 'What to print: the report, the path of the file written, or in place of a file the document itself' -r -f -a "json\t'One line of JSON about the file written'
text\t'The path of the file written'
html\t'The page: short for --format html --to -'
md\t'The Markdown: short for --format md --to -'"
complete -c pi-session-export -s C -d 'Resolve relative paths against DIR' -r -F
complete -c pi-session-export -l color -d 'When to colour and lay out JSON for people' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c pi-session-export -l all -d 'Write every branch, not only the path to the leaf (a page always holds every branch)'
complete -c pi-session-export -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pi-session-export -s V -l version -d 'Print version'
