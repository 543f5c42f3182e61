// Prices over days as lines, each panel with its own scale. A slider under the plot selects a day, by pointer or by keys,
// and screen readers read the values of that day.
import {h, svg, table} from "./dom.js";
import {day as dayInWords} from "./words.js";

const LEFT_PIXELS = 64;
const RIGHT_PIXELS = 12;
const GAP_PIXELS = 26; // between panels, and for the days under the last
const DAY_MILLISECONDS = 86_400_000;

/**
 * A figure.
 * @param title what is plotted.
 * @param panels each {height, format, fromZero, series: [{name, style, values: Map of day to number or null}]}.
 * @param hidden names of lines that are switched off; the check boxes change it.
 */
export function plot(title, panels, hidden = new Set()) {
  panels = panels.map((panel) => ({...panel, series: panel.series.filter(hasData)})).filter(({series}) => series.length);
  const every = panels.flatMap(({series, format}) => series.map((one) => ({...one, format})));
  const days = [...new Set(every.flatMap(({values}) => [...values.keys()]))].sort();
  if (days.length === 0) return h("p", {class: "message"}, "No history in this range.");
  const state = {panels, days, hidden, at: days.length - 1};
  const canvas = h("div", {class: "canvas"});
  const ruler = h("div", {}); // as wide as the canvas, and its height never changes
  const readout = h("p", {class: "readout", "aria-hidden": "true"});
  const slider = h("input", {type: "range", min: "0", max: String(days.length - 1), value: String(state.at), "aria-label": "Day"});
  const reading = () => every.filter(({name}) => !state.hidden.has(name))
    .map(({name, values, format}) => `${name} ${format(values.get(days[state.at]))}`).join(", ");

  const point = (at) => {
    state.at = at;
    slider.value = String(at);
    slider.setAttribute("aria-valuetext", `${dayInWords(days[at])}: ${reading()}`);
    readout.replaceChildren(h("b", {}, dayInWords(days[at])), ` ${reading()}`);
    mark(canvas.firstChild, state);
  };
  const redraw = () => {
    if (!ruler.clientWidth) return;
    canvas.replaceChildren(draw(ruler.clientWidth, title, state));
    point(state.at);
  };
  slider.addEventListener("input", () => point(Number(slider.value)));
  canvas.addEventListener("pointermove", (event) => point(nearest(state, event.clientX - canvas.getBoundingClientRect().left)));
  new ResizeObserver(redraw).observe(ruler);

  const legend = h("ul", {class: "legend", "aria-label": "Lines shown"}, every.map(({name, style}) => h("li", {},
    h("label", {}, h("input", {type: "checkbox", checked: !hidden.has(name), onchange: ({target}) => {
      hidden[target.checked ? "delete" : "add"](name);
      redraw();
    }}), svg("svg", {class: "swatch", viewBox: "0 0 28 8", "aria-hidden": "true"}, svg("path", {class: `line ${style}`, d: "M1 4H27"})), name))));
  return h("figure", {class: "plot"}, h("figcaption", {}, title), legend, ruler, canvas, slider, readout, inNumbers(title, every, days));
}

const hasData = ({values}) => [...values.values()].some((value) => value !== null);

/** The same values as a table, which is filled when it is first opened. */
function inNumbers(title, every, days) {
  const details = h("details", {}, h("summary", {}, "As a table"));
  details.addEventListener("toggle", () => details.children.length === 1 && details.append(table(title,
    [["Day", ""], ...every.map(({name}) => [name, "number"])],
    [...days].reverse().map((one) => [dayInWords(one), ...every.map(({values, format}) => format(values.get(one)))]))), {once: true});
  return details;
}

function draw(width, title, state) {
  const first = Date.parse(state.days[0]);
  const span = Math.max(Date.parse(state.days.at(-1)) - first, DAY_MILLISECONDS);
  state.x = (one) => LEFT_PIXELS + ((Date.parse(one) - first) / span) * (width - LEFT_PIXELS - RIGHT_PIXELS);
  state.rows = [];
  let top = 10;
  const drawn = [];
  for (const panel of state.panels) {
    const lines = panel.series.filter(({name}) => !state.hidden.has(name));
    const ticks = ticksFor(lines.flatMap(({values}) => [...values.values()].filter((value) => value !== null)), panel);
    const [low, high] = [ticks[0], ticks.at(-1)];
    const bottom = top + panel.height;
    const y = (value) => bottom - ((value - low) / (high - low)) * panel.height;
    state.rows.push({y, lines});
    drawn.push(...ticks.map((tick) => [
      svg("line", {class: "rule", x1: LEFT_PIXELS, x2: width - RIGHT_PIXELS, y1: y(tick), y2: y(tick)}),
      svg("text", {class: "tick", x: LEFT_PIXELS - 8, y: y(tick) + 4, "text-anchor": "end"}, (panel.round ?? panel.format)(tick)),
    ]));
    drawn.push(...lines.map(({style, values}) => svg("path", {class: `line ${style}`, d: path(values, state, y)})));
    top = bottom + GAP_PIXELS;
  }
  const height = top;
  drawn.push(...dayTicks(state, width).map(([one, anchor]) =>
    svg("text", {class: "tick", x: state.x(one), y: height - 8, "text-anchor": anchor}, dayInWords(one))));
  const label = `${title}, ${dayInWords(state.days[0])} to ${dayInWords(state.days.at(-1))}. The slider below reads it day by day.`;
  return svg("svg", {viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label}, drawn.flat(),
    svg("g", {class: "mark", "data-height": height - GAP_PIXELS}));
}

/** A line that breaks where there is no price; a price alone between gaps is a dot. */
function path(values, {days, x}, y) {
  let drawing = false;
  let text = "";
  for (const one of days) {
    const value = values.get(one);
    if (value === undefined) continue; // no value on this day: the line continues
    if (value === null) { drawing = false; continue; }
    text += drawing ? `L${x(one).toFixed(1)} ${y(value).toFixed(1)}` : `M${x(one).toFixed(1)} ${y(value).toFixed(1)}h.01`;
    drawing = true;
  }
  return text;
}

function mark(drawing, {days, at, x, rows}) {
  const group = drawing.querySelector(".mark");
  const across = x(days[at]);
  const dots = rows.flatMap(({y, lines}) => lines.filter(({values}) => values.get(days[at]) != null)
    .map(({style, values}) => svg("circle", {class: style, cx: across, cy: y(values.get(days[at])), r: 3.5})));
  group.replaceChildren(svg("line", {x1: across, x2: across, y1: 4, y2: group.dataset.height}), ...dots);
}

function nearest({days, x}, across) {
  let [low, high] = [0, days.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (x(days[middle]) < across) low = middle; else high = middle;
  }
  return across - x(days[low]) < x(days[high]) - across ? low : high;
}

/** Round numbers around the values: three to six of them. */
function ticksFor(values, {fromZero}) {
  let low = Math.min(...values), high = Math.max(...values);
  if (values.length === 0) [low, high] = [0, 1];
  if (fromZero || low < high / 3) low = 0;
  if (high === low) high = low + (Math.abs(low) / 10 || 1);
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].find((one) => one * power >= rough) * power;
  const ticks = [];
  for (let at = Math.floor(low / step); (ticks.at(-1) ?? -Infinity) < high; at++) ticks.push(at * step);
  return ticks;
}

function dayTicks({days}, width) {
  const some = Math.max(2, Math.min(6, Math.floor((width - LEFT_PIXELS) / 130)));
  if (days.length < 2) return [[days[0], "start"]];
  const first = Date.parse(days[0]);
  const span = Date.parse(days.at(-1)) - first;
  return Array.from({length: some}, (_, at) => {
    const one = new Date(first + (span * at) / (some - 1)).toISOString().slice(0, 10);
    return [one, at === 0 ? "start" : at === some - 1 ? "end" : "middle"];
  });
}

/** A small line without axes, for a table; null is a gap. */
export function sparkline(values, label) {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return h("span", {class: "none"}, "no prices");
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const y = (value) => (high === low ? 14 : 25 - ((value - low) / (high - low)) * 22);
  const x = (at) => 3 + (at / Math.max(values.length - 1, 1)) * 114;
  const sparse = values.every((value, at) => value === null || (values[at + 1] ?? null) === null); // then a line spans the gaps
  let drawing = false;
  const text = values.map((value, at) => {
    if (value === null) { drawing &&= sparse; return ""; }
    const step = `${drawing ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}${drawing ? "" : "h.01"}`;
    drawing = true;
    return step;
  }).join("");
  const last = values.findLastIndex((value) => value !== null);
  return svg("svg", {class: "sparkline", viewBox: "0 0 120 28", role: "img", "aria-label": label},
    svg("path", {class: "line", d: text}), svg("circle", {cx: x(last), cy: y(values[last]), r: 2.5}));
}
