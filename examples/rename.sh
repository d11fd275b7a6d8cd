#!/bin/bash
# rename.sh OLD_REGEX NEW_TEMPLATE [DIR]
#
# Renames across a tree: every match of OLD_REGEX becomes NEW_TEMPLATE ($1, ${name} and $$ as in
# pi-grep --replace). Each file is changed as a whole or not at all; its diff is printed. Exit status:
# 0 done, 1 nothing to rename or a file that could not be changed, 2 bad arguments or an unreadable file.
set -u
if [ $# -lt 2 ]; then
    sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi

pi-grep -e "$1" --replace="$2" -- "${3:-.}" | pi-edit --args - | jq -r '.diff // empty'
status=("${PIPESTATUS[@]}")

case ${status[0]} in
    0) ;;
    1) echo "rename.sh: nothing to rename" >&2; exit 1 ;;
    *) exit 2 ;;
esac
exit "${status[1]}"
