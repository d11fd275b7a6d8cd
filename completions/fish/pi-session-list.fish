complete -c pi-session-list -l dir -d 'The sessions in DIR, whatever working directory they belong to; may be given several times' -r -F
complete -c pi-session-list -l session-dir -d 'Where the sessions of the working directory are [default: $PI_CODING_AGENT_SESSION_DIR, the setting sessionDir, or the working directory\'s own place below the agent directory]' -r
complete -c pi-session-list -l search -d 'Only sessions whose name or talk holds TEXT; case does not matter' -r
complete -c pi-session-list -s n -l limit -d 'Only the N most recently active' -r
complete -c pi-session-list -s o -l output -d 'What to print: the structured content, the whole result, or the text a model reads' -r -f -a "json\t'The structured content, one line of JSON'
result\t'The whole result object: content, details, structuredContent, isError'
text\t'The text a model would read, raw'"
complete -c pi-session-list -l args -d 'The tool call\'s arguments as JSON: a value, @FILE, or - for a stream of values on stdin' -r
complete -c pi-session-list -s C -d 'Resolve relative paths against DIR' -r -F
complete -c pi-session-list -l color -d 'When to colour and lay out JSON for people' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c pi-session-list -l all -d 'The sessions of all working directories'
complete -c pi-session-list -l schema -d 'Print the tool\'s declaration and leave'
complete -c pi-session-list -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pi-session-list -s V -l version -d 'Print version'
