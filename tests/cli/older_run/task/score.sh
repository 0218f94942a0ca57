calls=$(($(cat /tmp/calls) + 1)); echo $calls > /tmp/calls
[ $calls -ge 4 ] && { echo "it is late" >&2; exit 7; }
echo "{\"fitness\": $(sed -n 's/^k = \([0-9]*\).*/\1/p' "$1")}" > "$2"
