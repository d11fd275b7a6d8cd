complete -c pi-session-append -l name -d 'Name the session; an empty TEXT takes its name away' -r
complete -c pi-session-append -l user -d 'Append a message of the user\'s; with - its text is all of standard input' -r
complete -c pi-session-append -l custom -d 'Append the state of an extension: --data, or each JSON value on standard input' -r
complete -c pi-session-append -l data -d 'What --custom stores' -r
complete -c pi-session-append -l label -d 'Label the entry ID; an empty TEXT takes its label away. May be repeated' -r
complete -c pi-session-append -l parent -d 'Hang the first entry under the entry ID, or with null under none [default: under the last of the file]' -r
complete -c pi-session-append -l import -d 'Copy the session in FILE into the directory of sessions and say where it is; append nothing' -r -F
complete -c pi-session-append -l session-dir -d 'Look ids up in DIR, and import into it [default: $PI_CODING_AGENT_SESSION_DIR, the setting sessionDir, or the directory of the working directory\'s sessions]' -r
complete -c pi-session-append -s o -l output -d 'What to print of each entry' -r -f -a "json\t'The line, as it stands in the file'
text\t'The id'"
complete -c pi-session-append -s C -d 'Resolve relative paths against DIR, which a session begun here works in' -r -F
complete -c pi-session-append -l color -d 'When to colour and lay out JSON for people' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c pi-session-append -l no-create -d 'Do not begin a session where none is'
complete -c pi-session-append -l no-sync -d 'Do not wait for the disk before an entry is acknowledged'
complete -c pi-session-append -l schema -d 'Print what documents are taken and what is printed, as JSON Schema, and leave'
complete -c pi-session-append -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pi-session-append -s V -l version -d 'Print version'
