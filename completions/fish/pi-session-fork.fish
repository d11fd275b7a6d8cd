complete -c pi-session-fork -l session-dir -d 'Look ids up in DIR [default: $PI_CODING_AGENT_SESSION_DIR, the setting sessionDir, or the directory of the working directory\'s sessions]' -r
complete -c pi-session-fork -l before -d 'Fork before this message of the user\'s, whose text comes back' -r
complete -c pi-session-fork -l at -d 'Fork behind this entry and keep it [default: the last of the file]' -r
complete -c pi-session-fork -l cwd -d 'Copy all branches, for work in DIR' -r
complete -c pi-session-fork -l to -d 'Write FILE, which must not exist [default: a file of its own beside the session, in --session-dir, or for --cwd in the directory of DIR\'s sessions]' -r -F
complete -c pi-session-fork -s o -l output -d 'What to print: the structured content, the whole result, or the text a model reads' -r -f -a "json\t'The structured content, one line of JSON'
result\t'The whole result object: content, details, structuredContent, isError'
text\t'The text a model would read, raw'"
complete -c pi-session-fork -l args -d 'The tool call\'s arguments as JSON: a value, @FILE, or - for a stream of values on stdin' -r
complete -c pi-session-fork -s C -d 'Resolve relative paths against DIR' -r -F
complete -c pi-session-fork -l color -d 'When to colour and lay out JSON for people' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c pi-session-fork -l schema -d 'Print the tool\'s declaration and leave'
complete -c pi-session-fork -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pi-session-fork -s V -l version -d 'Print version'
