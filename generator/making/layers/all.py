"""All layers of a build."""

from generator.making.context import BuildContext
from generator.making.layers.bulk import bulk_layer
from generator.making.layers.bulk_cards import bulk_cards_layer
from generator.making.layers.bulk_catalogue import bulk_catalogue_layer
from generator.making.layers.bulk_identifiers import bulk_identifiers_layer
from generator.making.layers.bulk_market import bulk_market_layer
from generator.making.layers.bulk_prices import bulk_price_layers
from generator.making.layers.bulk_watchlist import bulk_watchlist_layer
from generator.making.layers.catalogue import catalogue_layer
from generator.making.layers.drawings import drawings_layer
from generator.making.layers.fingerprints import fingerprints_layer
from generator.making.layers.games import games_layer
from generator.making.layers.history import history_layer, open_month_layer
from generator.making.layers.identifiers import identifiers_layer
from generator.making.layers.market import market_layers
from generator.making.layers.movers import movers_layer
from generator.making.layers.names import names_layer
from generator.making.layers.series import series_layers
from generator.making.layers.sets import sets_layer
from generator.making.layers.site import site_layer
from generator.making.layers.spec import LayerSpec
from generator.making.layers.status import status_layer
from generator.making.layers.watchlist import watchlist_layer
from generator.making.named_products import NamedProducts
from generator.making.periods import closed_periods
from generator.making.unknown_products import UnknownProducts


def define_layers(context: BuildContext) -> list[LayerSpec]:
    """Return the layers of a build of the context's lake, in the order in which they are made.

    Raises:
        LakeError: The products break a rule, or a file of prices cannot be read.
    """
    lake = context.lake
    catalogue, watchlist = catalogue_layer(lake), watchlist_layer(lake)
    named = NamedProducts(context)
    unknown = UnknownProducts(context, named)
    identifiers = identifiers_layer(lake, unknown)
    prices = list(bulk_price_layers(lake, unknown))
    market = market_layers(context, named)
    bulk = [
        bulk_catalogue_layer(lake),
        bulk_cards_layer(catalogue),
        bulk_watchlist_layer(lake),
        bulk_identifiers_layer(identifiers),
        bulk_market_layer(market),
    ]
    layers = [
        *(history_layer(lake, period) for period in closed_periods(lake)),
        catalogue,
        open_month_layer(lake),
        sets_layer(lake),
        games_layer(catalogue),
        names_layer(lake),
        identifiers,
        movers_layer(lake),
        *series_layers(lake),
        watchlist,
        fingerprints_layer(lake),
        status_layer(catalogue, watchlist),
        *prices,
        *market,
        *bulk,
        bulk_layer([*prices, *bulk]),
        drawings_layer(lake),
    ]
    return [*layers, site_layer(lake.as_of, layers)]
