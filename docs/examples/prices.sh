get() { curl -sS --compressed --fail-with-body -G -H "Authorization: Bearer $KEY" "$@"; }
get --data-urlencode "names=$(printf '%s\n' "$@")" -o named.json "$CARDS/api/v1/cards/named" || exit 1
sed -n 's/.*"not_found":\[\(..*\)\]}/there is no card \1/p' named.json
sed -n 's/.*"ids":\[\([0-9,]*\)\].*/\1/p' named.json | tr , '\n' | grep . | xargs -n 100 | tr ' ' , |
  while read -r ids; do get -d "ids=$ids" "$CARDS/api/v1/cards"; done
