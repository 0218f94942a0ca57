letters=$(tr -cd a-z < "$1" | fold -w 1 | sort -u | wc -l)
echo "{\"fitness\": $((letters + 1))}" > "$2"
