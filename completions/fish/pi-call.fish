complete -c pi-call -l tools -d 'Tools that may be called; any other is answered as not found [default: all]' -r
complete -c pi-call -s j -l jobs -d 'Calls that run at the same time; those that write one file always queue' -r
complete -c pi-call -s C -d 'Resolve relative paths against DIR' -r -F
complete -c pi-call -l color -d 'When to colour and lay out JSON for people' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c pi-call -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pi-call -s V -l version -d 'Print version'
