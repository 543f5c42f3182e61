"""All layers of a build: `rows` has small ones; a large one has a module."""

from generator.making.layer import PlannedLayer, closed_periods
from generator.making.layers import bulk
from generator.making.layers.card_columns import catalogue_layer
from generator.making.layers.history import extremes_layers, history_layer, open_month_layer, series_layers
from generator.making.layers.market import market_layers, movers_layer
from generator.making.layers.rows import day_files_layers, identifiers_layer, row_layers, status_layer, watchlist_layer
from generator.making.layers.site import drawings_layer, site_layer
from generator.making.plan import NamedProducts
from generator.making.work import BuildContext
from generator.storage import layout


def define_layers(context: BuildContext) -> list[PlannedLayer]:
    """Return the layers of a build of the context's lake, in the order in which they are made."""
    lake = context.lake
    catalogue, watchlist = catalogue_layer(lake), watchlist_layer(lake)
    named = NamedProducts(context)
    identifiers = identifiers_layer(lake, named)
    prices = list(bulk.bulk_price_layers(lake, named))
    market = market_layers(context, named)
    layers = [
        *(history_layer(lake, period) for period in closed_periods(lake)),
        catalogue,
        open_month_layer(lake),
        identifiers,
        *row_layers(lake, catalogue),
        *bulk.bulk_of_rows(lake, identifiers),
        movers_layer(lake),
        *series_layers(lake),
        *extremes_layers(lake),
        watchlist,
        status_layer(lake, catalogue, watchlist),
        *prices,
        *market,
        bulk.bulk_cards_layer(catalogue),
        bulk.bulk_market_layer(lake, market),
        bulk.bulk_csv_layer(lake, catalogue, prices),
        drawings_layer(lake),
    ]
    layers += bulk.bulk_layers(lake, [layer for layer in layers if layout.holds_bulk_files(layer.name)])
    return [*layers, site_layer(lake.as_of, layers), *day_files_layers(lake)]
