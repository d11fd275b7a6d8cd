complete -c pi-session-show -l session-dir -d 'Look ids up in DIR [default: $PI_CODING_AGENT_SESSION_DIR, the setting sessionDir, or the directory of the working directory\'s sessions]' -r
complete -c pi-session-show -l leaf -d 'Take this entry for the leaf [default: the last one of the file]' -r
complete -c pi-session-show -l type -d 'Only entries of these types' -r
complete -c pi-session-show -l role -d 'Only messages of these roles' -r
complete -c pi-session-show -l since -d 'Only entries written at TIME or later, such as 2026-12-01 or 2026-12-01T09:30:00Z' -r
complete -c pi-session-show -l search -d 'Only entries in which somebody said, thought, called or read TEXT; case does not matter' -r
complete -c pi-session-show -s n -l limit -d 'Only the last N of them' -r
complete -c pi-session-show -s o -l output -d 'What to print: the structured content, the whole result, or the text a model reads' -r -f -a "json\t'The structured content, one line of JSON'
result\t'The whole result object: content, details, structuredContent, isError'
text\t'The text a model would read, raw'"
complete -c pi-session-show -l args -d 'The tool call\'s arguments as JSON: a value, @FILE, or - for a stream of values on stdin' -r
complete -c pi-session-show -s C -d 'Resolve relative paths against DIR' -r -F
complete -c pi-session-show -l color -d 'When to colour and lay out JSON for people' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c pi-session-show -l path -d 'Only the entries on the path to the leaf'
complete -c pi-session-show -l count -d 'Say how many there are, and leave the entries out'
complete -c pi-session-show -l nested -d 'Nest the branches of a fork in the entry they hang under'
complete -c pi-session-show -l schema -d 'Print the tool\'s declaration and leave'
complete -c pi-session-show -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pi-session-show -s V -l version -d 'Print version'
