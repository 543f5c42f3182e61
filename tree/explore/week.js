// How the price of each product changed over 7 days. A Card has no older prices, and one request for each tile would use up
// the rate limit. So a build writes all changes into one file of the site. The browser reads it once for each build.
let known = {};

/** The changes of a build, a promise of a Map of {percents, since} by id. It is empty if the site shows another build by now. */
export function weekChanges(build) {
  if (known.build !== build) known = {build, changes: read(build).catch(() => new Map())};
  return known.changes;
}

async function read(build) {
  const answer = await fetch(`/explore/week.json?build=${build}`, {credentials: "omit", referrerPolicy: "no-referrer"});
  const found = await answer.json();
  if (found.build !== build) return new Map();
  let id = 0;
  return new Map(found.steps.map((step, at) => [id += step, {percents: found.changes[at], since: found.days[found.then[at]]}]));
}
