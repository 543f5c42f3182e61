offset=0 build=
while [ -n "$offset" ]; do
  curl -sS --compressed --fail-with-body --retry 5 -D head.txt -o page.json \
    -H "Authorization: Bearer $KEY" ${build:+-H "X-Build: $build"} \
    "$CARDS/api/v1/cards?kind=sealed&limit=100&offset=$offset" || exit 1
  build=$(sed -n 's/^x-build: \([^[:cntrl:]]*\).*/\1/Ip' head.txt)
  cat page.json
  offset=$(sed -n 's/.*"next_offset":\([0-9]*\).*/\1/p' page.json)
done
