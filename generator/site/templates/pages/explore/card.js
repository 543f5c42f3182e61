// One product: its picture, what it is, its prices, their history plotted, and the cheapest offers.
import {h, outward, picture, table} from "./dom.js";
import {plot} from "./plot.js";
import {condition, count, day, euros, roundEuros, time} from "./words.js";

const RANGES = [["30", "30 days"], ["90", "90 days"], ["365", "A year"], ["", "All"]];

export function cardView({api, route, announce}) {
  const view = h("article", {class: "product"});
  const asking = new AbortController();
  const history = h("div", {});
  const ask = (days) => api.get(`cards/${route.id}`, {days}, {signal: asking.signal});

  const ranges = h("fieldset", {class: "ranges"}, h("legend", {}, "History of"), RANGES.map(([days, name], at) =>
    h("label", {}, h("input", {type: "radio", name: "days", value: days, checked: at === 1, onchange: async () => {
      try { draw((await ask(days))[0]); } catch (error) { announce(error.message, true); }
    }}), name)));
  const hidden = new Set();
  const draw = (product) => history.replaceChildren(historyOf(product, hidden));

  ask(RANGES[1][0]).then(([product]) => {
    document.title = `${product.name}: explorer`;
    view.append(head(product), h("section", {"aria-label": "History"}, ranges, history), ...offers(product));
    draw(product);
    announce("");
    view.querySelector("h2").focus();
  }).catch((error) => asking.signal.aborted || announce(error.message, true));
  view.leave = () => asking.abort();
  return view;
}

function head(product) {
  const facts = [
    ["Set", product.set.id === null ? null : h("a", {href: `#/cards?${new URLSearchParams({set: product.set.id, sort: "number"})}`}, product.set.name ?? `Set ${product.set.id}`)],
    ["Number", product.number], ["Rarity", product.rarity], ["Kind", product.kind], ["Category", product.category],
    ["Product id", String(product.id_product)],
    ["Marketplace", outward(product.cardmarket_url, "Product page")],
  ];
  return h("header", {class: "head"},
    picture(product.image_large ?? product.image, product.name, {alt: `Picture of ${product.name}`}),
    h("div", {},
      h("h2", {tabindex: "-1"}, product.name),
      h("dl", {class: "facts"}, facts.filter(([, fact]) => fact).map(([name, fact]) => h("div", {}, h("dt", {}, name), h("dd", {}, fact)))),
      prices(product)));
}

function prices({price_guide: guide, filtered_price: filtered, listing}) {
  return h("section", {class: "tiles", "aria-label": "Prices"},
    tile("Price guide", guide && `EU-wide, ${day(guide.day)}`, guide && [
      ["Trend", euros(guide.trend)], ["Average", euros(guide.avg)], ["Lowest", euros(guide.low)],
      ["Average, 1 day", euros(guide.avg1)], ["7 days", euros(guide.avg7)], ["30 days", euros(guide.avg30)],
      ...(guide.holo.trend === null ? [] : [["Holo trend", euros(guide.holo.trend)]])]),
    tile("Under the seller filter", filtered && `Checked ${time(filtered.checked_at)}`, filtered && [
      ["Lowest", euros(filtered.lowest)], ["Offers", count(filtered.offers)],
      ["Cheapest", filtered.cheapest_seller ?? "–"], ["Condition", condition(filtered.cheapest_condition)]]),
    tile("List page", listing && `All sellers, ${time(listing.scraped_at)}`, listing && [
      ["From", euros(listing.from_price)], ["Available", count(listing.available)],
      ["Foil from", euros(listing.from_price_foil)], ["Foil available", count(listing.available_foil)]]));
}

const tile = (name, when, facts) => h("div", {class: "tile"}, h("h3", {}, name), h("p", {class: "when"}, when || "No data yet"),
  facts && h("dl", {}, facts.map(([label, value]) => h("div", {}, h("dt", {}, label), h("dd", {}, value)))));

function historyOf({history}, hidden) {
  const of = (rows, field) => new Map(rows.map((row) => [row.day, row[field]]));
  return plot("Prices and quantity", [
    {height: 250, format: euros, round: roundEuros, series: [
      {name: "Trend", style: "one", values: of(history.price_guide, "trend")},
      {name: "Average", style: "two", values: of(history.price_guide, "avg")},
      {name: "Lowest under the filter", style: "three", values: of(history.filtered, "lowest")}]},
    {height: 80, format: count, fromZero: true, series: [
      {name: "Available", style: "four", values: of(history.listing, "available")}]},
  ], hidden);
}

function offers({filtered_price: filtered}) {
  if (!filtered?.cheapest_offers.length) return [];
  const row = (offer, code) => [offer.seller, condition(code), count(offer.quantity), euros(offer.price)];
  const columns = [["Seller", ""], ["Condition", ""], ["Quantity", "number"], ["Price", "number"]];
  const grouped = Object.entries(filtered.cheapest_offers_by_condition);
  return [h("section", {}, h("h3", {}, "Cheapest offers under the filter"),
    table("Cheapest offers", columns, filtered.cheapest_offers.map((offer) => row(offer, offer.condition))),
    h("details", {}, h("summary", {}, "By condition"),
      table("Cheapest offers by condition", columns, grouped.flatMap(([code, some]) => some.map((offer) => row(offer, code))))))];
}
