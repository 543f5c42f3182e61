"""All layers of a build."""

from edge_auth.builds import layout
from generator.making.context import BuildContext
from generator.making.layer import BuildLayer
from generator.making.layers.bulk import bulk_cards_layer, bulk_layers, bulk_market_layer, bulk_price_layers
from generator.making.layers.catalogue import catalogue_layer
from generator.making.layers.history import extremes_layers, history_layer, open_month_layer, series_layers
from generator.making.layers.identifiers import identifiers_layer
from generator.making.layers.market import market_layers, movers_layer
from generator.making.layers.records import day_files_layers, status_layer
from generator.making.layers.rows import row_layers
from generator.making.layers.site import drawings_layer, site_layer
from generator.making.layers.watchlist import watchlist_layer
from generator.making.named_products import NamedProducts
from generator.making.periods import closed_periods


def define_layers(context: BuildContext) -> list[BuildLayer]:
    """Return the layers of a build of the context's lake, in the order in which they are made."""
    lake = context.lake
    catalogue, watchlist = catalogue_layer(lake), watchlist_layer(lake)
    named = NamedProducts(context)
    identifiers = identifiers_layer(lake, named)
    prices = list(bulk_price_layers(lake, named))
    market = market_layers(context, named)
    layers = [
        *(history_layer(lake, period) for period in closed_periods(lake)),
        catalogue,
        open_month_layer(lake),
        identifiers,
        *row_layers(lake, catalogue, identifiers),
        movers_layer(lake),
        *series_layers(lake),
        *extremes_layers(lake),
        watchlist,
        status_layer(lake, catalogue, watchlist),
        *prices,
        *market,
        bulk_cards_layer(catalogue),
        bulk_market_layer(lake, market),
        drawings_layer(lake),
    ]
    layers += bulk_layers(lake, [layer for layer in layers if layout.holds_bulk_files(layer.name)])
    return [*layers, site_layer(lake.as_of, layers), *day_files_layers(lake)]
