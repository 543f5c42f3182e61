// One product: its picture, what it is, its prices, their history plotted, and the cheapest offers.
import {before} from "./before.js";
import {h, nameOf, outward, picture, stackedTable, table} from "./dom.js";
import {path} from "./group.js";
import {lost} from "./lost.js";
import {plot} from "./plot.js";
import {marketPrice} from "./price.js";
import {printingsOf} from "./printings.js";
import {SELLER_FILTER, SELLER_FILTER_MEANING, condition, count, day, direction, euros, percent, roundEuros, setName, since, time, titled} from "./words.js";

const RANGES = [["30", "30 days"], ["90", "90 days"], ["365", "A year"], ["", "All"]];

export function cardView({api, route, announce, cards, sets}) {
  const view = h("article", {class: "product"});
  const asking = new AbortController();
  const history = h("div", {});
  const ask = (days) => api.get(`cards/${route.id}`, {days}, {signal: asking.signal});

  const ranges = h("fieldset", {class: "ranges"}, h("legend", {}, "History of"), RANGES.map(([days, name], at) =>
    h("label", {}, h("input", {type: "radio", name: "days", value: days, checked: at === 1, onchange: async () => {
      try { draw((await ask(days))[0]); } catch (error) { announce(error, true); }
    }}), name)));
  const hidden = new Set();
  const draw = (product) => history.replaceChildren(historyOf(product, hidden));

  ask(RANGES[1][0]).then(([product]) => {
    titled(product.name, setName(product.set));
    const around = h("nav", {class: "around", "aria-label": "Cards of the set"});
    const way = h("div", {class: "way"}, path({set: product.set, here: true}), around);
    view.append(way, head(product), h("section", {"aria-label": "History"}, ranges, history), ...offers(product));
    draw(product);
    lead(product, {api, sets, signal: asking.signal}, {view, way, around});
    announce("");
    view.querySelector("h2").focus();
    cards.itemOf(product).then((item) => item && view.querySelector(".facts").append(
      fact("Watchlist", h("a", {href: `#/watchlist/${encodeURIComponent(item.slug)}`}, "Tracked, with offers"))), () => {});
    api.get("series", {ids: product.id_product}, {signal: asking.signal}).then(([{data}]) =>
      view.querySelector(".headline").append(...range(product, data[0])), () => {});
    api.get(`cards/${route.id}/identifiers`, {}, {signal: asking.signal})
      .then(([{identifiers}]) => view.append(...otherIds(identifiers, announce)), () => {}); // a copy as plain files has none
  }).catch((error) => {
    if (asking.signal.aborted) return;
    if (error.status !== 404 && error.code !== "invalid_parameter") return announce(error, true);
    view.replaceChildren(lost("There is no card with this id"));
    announce("");
    view.querySelector("h2").focus();
  });
  view.leave = () => asking.abort();
  return view;
}

function head(product) {
  const facts = [
    ["Set", product.set.id === null ? null : h("a", {href: `#/sets/${product.set.id}`}, setName(product.set))],
    ["Number", product.number], ["Rarity", product.rarity], ["Kind", product.kind], ["Category", product.category],
    ["Product id", String(product.id_product)],
    ["Marketplace", outward(product.cardmarket_url, "Product page")],
  ];
  const image = product.image_large ?? product.image;
  return h("header", {class: image ? "head" : "head bare"},
    image && picture(image, product, {alt: `Picture of ${product.name}`}),
    h("div", {class: "title"}, h("h2", {tabindex: "-1"}, nameOf(product.name)), headline(product)),
    h("div", {class: "rest"},
      prices(product),
      h("dl", {class: "facts"}, facts.filter(([, value]) => value).map(([name, value]) => fact(name, value)))));
}

/** Lead to the cards around this one: of its set, before and after, and of the same name. What fails is left out. */
function lead(product, {api, sets, signal}, {view, way, around}) {
  const link = (card, text) => card && h("a", {href: `#/cards/${card.id_product}`, title: card.name}, text);
  if (product.set.id !== null) {
    api.get("facets", {set: product.set.id}, {signal}).then(([{games}]) =>
      way.firstChild.replaceWith(path({set: product.set, game: games[0]?.value ?? null, here: true})), () => {});
    sets.neighbours(product).then(([previous, next]) =>
      around.append(...[link(previous, "← Previous"), link(next, "Next →")].filter(Boolean)), () => {});
  }
  printingsOf(product, api, signal).then((found) => found.length && view.append(h("section", {}, h("h3", {}, "Other printings"),
    stackedTable("Other printings", [["Card", ""], ["Number", "number"], ["Set", ""], ["Price", "number"]], found.map((card) => [
      link(card, card.name), card.number ?? "–", setName(card.set) ?? "–", euros(marketPrice(card.price_guide)?.price)])))), () => {});
}

const fact = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));

/** The price that matters most, and how it has moved. */
function headline({price_guide: guide, filtered_price: filtered, history}) {
  const market = marketPrice(guide);
  const price = market?.price ?? filtered?.lowest ?? null;
  if (price === null) return h("p", {class: "headline"}, "No price yet");
  const what = market ? `Trend price${market.foil ? " of foils" : ""} across Europe, ${day(guide.day)}` : SELLER_FILTER;
  const moves = market ? [7, 30].map((days) => before(history.price_guide, market.field, guide.day, days)).filter(Boolean) : [];
  return h("div", {class: "headline"}, h("p", {class: "price"}, euros(price)), h("p", {class: "when"}, what),
    h("dl", {class: "moves"}, moves.map((then) => fact(since(then.day), moved(price, then[market.field], then.day)))));
}

function moved(now, price, then) {
  const change = ((now - price) / price) * 100;
  return h("span", {class: direction(change), title: `${euros(price)} on ${day(then)}`}, percent(change));
}

/** When the price was lowest and highest, and where it stands between them. */
function range(product, {low, high}) {
  const market = marketPrice(product.price_guide);
  if (!low || !market) return [];
  const [least, most] = [low, high].map((one) => `${euros(one.price)} on ${day(one.day)}`);
  if (low.price === high.price) return [h("p", {class: "when"}, `It has had one price on all days: ${least}.`)];
  const place = Math.round(((market.price - low.price) / (high.price - low.price)) * 100);
  return [h("p", {class: "when"}, `Lowest ${least}, highest ${most}: now at ${place} % of the way from the lowest to the highest.`)];
}

function prices({price_guide: guide, filtered_price: filtered, listing}) {
  return h("section", {class: "tiles", "aria-label": "Prices"},
    tile("Price guide", guide && `The marketplace’s own prices across Europe, ${day(guide.day)}`, guide && [
      ["Trend", euros(guide.trend)], ["Average", euros(guide.avg)], ["Lowest", euros(guide.low)],
      ["Average, 1 day", euros(guide.avg1)], ["7 days", euros(guide.avg7)], ["30 days", euros(guide.avg30)],
      ...(guide.holo.trend === null ? [] : [["Holo trend", euros(guide.holo.trend)]])]),
    tile(SELLER_FILTER, filtered && `${SELLER_FILTER_MEANING} Checked ${time(filtered.checked_at)}`, filtered && [
      ["Lowest", euros(filtered.lowest)], ["Offers", count(filtered.offers)],
      ["Cheapest", filtered.cheapest_seller ?? "–"], ["Condition", condition(filtered.cheapest_condition)]]),
    tile("All sellers", listing && `Every country and language, as the page of the set lists them, ${time(listing.scraped_at)}`, listing && [
      ["From", euros(listing.from_price)], ["Available", count(listing.available)],
      ["Foil from", euros(listing.from_price_foil)], ["Foil available", count(listing.available_foil)]]));
}

const tile = (name, when, facts) => facts && h("div", {class: "tile"}, h("h3", {}, name), h("p", {class: "when"}, when),
  h("dl", {}, facts.map(([label, value]) => h("div", {}, h("dt", {}, label), h("dd", {}, value)))));

function historyOf({history}, hidden) {
  const of = (rows, field) => new Map(rows.map((row) => [row.day, row[field]]));
  return plot("Prices and quantity", [
    {height: 250, format: euros, round: roundEuros, series: [
      {name: "Trend", style: "one", values: of(history.price_guide, "trend")},
      {name: "Average", style: "two", values: of(history.price_guide, "avg")},
      {name: SELLER_FILTER, style: "three", values: of(history.filtered, "lowest")}]},
    {height: 80, format: count, fromZero: true, series: [
      {name: "Available", style: "four", values: of(history.listing, "available")}]},
  ], hidden);
}

function offers({filtered_price: filtered}) {
  if (!filtered?.cheapest_offers.length) return [];
  const row = (offer, code) => [offer.seller, condition(code), count(offer.quantity), euros(offer.price)];
  const columns = [["Seller", ""], ["Condition", ""], ["Quantity", "number"], ["Price", "number"]];
  const grouped = Object.entries(filtered.cheapest_offers_by_condition);
  return [h("section", {}, h("h3", {}, `Cheapest offers: ${SELLER_FILTER}`),
    table("Cheapest offers", columns, filtered.cheapest_offers.map((offer) => row(offer, offer.condition))),
    h("details", {}, h("summary", {}, "By condition"),
      table("Cheapest offers by condition", columns, grouped.flatMap(([code, some]) => some.map((offer) => row(offer, code))))))];
}

/** The ids that other catalogues have for the product. Browsers copy only on pages that are safe from listeners. */
function otherIds(identifiers, announce) {
  const schemes = Object.entries(identifiers);
  if (!schemes.length) return [];
  const copy = (value) => async () => {
    try { await navigator.clipboard.writeText(value); announce(`Copied ${value}.`); } catch (error) { announce(error, true); }
  };
  const id = (value) => h("span", {class: "id"}, h("code", {}, value), " ",
    navigator.clipboard && h("button", {type: "button", "aria-label": `Copy ${value}`, onclick: copy(value)}, "Copy"), " ");
  return [h("section", {"aria-label": "Ids in other catalogues"}, h("h3", {}, "Ids in other catalogues"),
    h("dl", {class: "facts"}, schemes.map(([scheme, values]) => fact(scheme, values.map(id)))))];
}
