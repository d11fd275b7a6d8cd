complete -c pi-session-context -l session-dir -d 'Look ids up in DIR [default: $PI_CODING_AGENT_SESSION_DIR, the setting sessionDir, or the directory of the working directory\'s sessions]' -r
complete -c pi-session-context -l leaf -d 'Take this entry for the leaf [default: the last one of the file]' -r
complete -c pi-session-context -s o -l output -d 'What to print: the structured content, the whole result, or the text a model reads' -r -f -a "json\t'The structured content, one line of JSON'
result\t'The whole result object: content, details, structuredContent, isError'
text\t'The text a model would read, raw'"
complete -c pi-session-context -l args -d 'The tool call\'s arguments as JSON: a value, @FILE, or - for a stream of values on stdin' -r
complete -c pi-session-context -s C -d 'Resolve relative paths against DIR' -r -F
complete -c pi-session-context -l color -d 'When to colour and lay out JSON for people' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c pi-session-context -l llm -d 'Give the messages in the form a model API takes, and the system prompt as text'
complete -c pi-session-context -l tools -d 'With --llm: give the declarations of the tools, too; the session\'s own, else the built-in ones'
complete -c pi-session-context -l schema -d 'Print the tool\'s declaration and leave'
complete -c pi-session-context -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pi-session-context -s V -l version -d 'Print version'
