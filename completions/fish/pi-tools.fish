complete -c pi-tools -l format -d 'Whose shape the declarations have [default: that of each command\'s --schema]' -r -f -a "pi\t'pi: what a session\'s system messages and a model request hold (name, description, parameters)'
mcp\t'Model Context Protocol: the `tools` of a tools/list result, with annotations'
anthropic\t'Anthropic Messages'
openai\t'OpenAI Chat Completions'
openai-responses\t'OpenAI Responses'
google\t'Google Gemini: one tool that holds all function declarations'"
complete -c pi-tools -s o -l output -d 'What to print: the structured content, the whole result, or the text a model reads' -r -f -a "json\t'The structured content, one line of JSON'
result\t'The whole result object: content, details, structuredContent, isError'
text\t'The text a model would read, raw'"
complete -c pi-tools -l args -d 'The tool call\'s arguments as JSON: a value, @FILE, or - for a stream of values on stdin' -r
complete -c pi-tools -s C -d 'Resolve relative paths against DIR' -r -F
complete -c pi-tools -l color -d 'When to colour and lay out JSON for people' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c pi-tools -l schema -d 'Print the tool\'s declaration and leave'
complete -c pi-tools -s h -l help -d 'Print help (see more with \'--help\')'
complete -c pi-tools -s V -l version -d 'Print version'
