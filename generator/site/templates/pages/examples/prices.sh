# The prices of a list of names: sh prices.sh "Emberfox ex" "Box 1"
# The names file tells which names there are. Of the products of a name, this takes the one with the highest trend; in
# Python and JavaScript it takes all. 100 prices cost one request.
get() { curl -sS --compressed --fail-with-body -G -H "Authorization: Bearer $KEY" "$@"; }
get -o names.json "$CARDS/api/v1/names" || exit 1
ids=
for name; do
  grep -qiF "\"name\":\"$name\"," names.json || { echo "there is no card $name"; continue; }
  get --data-urlencode "q=$name" -d sort=match -d limit=1 -o card.json "$CARDS/api/v1/cards" || exit 1
  ids=$ids,$(sed -n 's/.*"id_product":\([0-9]*\).*/\1/p' card.json)
done
get -d "ids=${ids#,}" "$CARDS/api/v1/cards"
