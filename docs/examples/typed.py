# openapi-python-client generate --url "$CARDS/api/v1/openapi.json" --meta none --output-path card_prices
import os
import sys

from card_prices.api.catalogue import list_cards
from card_prices.client import AuthenticatedClient
from card_prices.models import CardPage

client = AuthenticatedClient(base_url=os.environ["CARDS"], token=os.environ["KEY"])
page = list_cards.sync(client=client, find=sys.argv[1], limit=3)
assert isinstance(page, CardPage), page
for card in page.data:
    print(card.name, card.set_.name, card.price_guide.trend if card.price_guide else None)
