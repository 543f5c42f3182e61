#!/bin/sh
# Downloads today's files of a game and imports them: fetch-cardmarket.sh GAME FOLDER, with CARDPRESS_LAKE set.
# GAME is the marketplace's number: 1 Magic, 3 Yu-Gi-Oh!, 6 Pokémon, 17 Digimon, 18 One Piece, 19 Lorcana, …
# The marketplace keeps no archive, so the folder does: a day that was not downloaded is lost.
set -eu
game=$1 folder=$2
base=${CARDMARKET_DOWNLOADS:-https://downloads.s3.cardmarket.com/productCatalog}
day=$(date -u +%F)
mkdir -p "$folder"
for path in priceGuide/price_guide productList/products_singles productList/products_nonsingles; do
  file=$folder/$(basename "$path")_${game}_$day.json.gz
  curl --fail --silent --show-error --retry 3 "$base/${path}_$game.json" --output "$folder/.unfinished"
  gzip -nc "$folder/.unfinished" > "$folder/.unfinished.gz"
  mv "$folder/.unfinished.gz" "$file"
  rm "$folder/.unfinished"
  set -- "$@" "$file"
done
shift 2
exec cardpress ingest cardmarket "$@"
