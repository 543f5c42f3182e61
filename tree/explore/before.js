// What a value was some days before, by the rule of /movers and /market.

const DAY_MILLISECONDS = 86_400_000;
const LATE_DAYS = 3; // how much older than its window the value before may be

/** The newest of the rows `{day, [field]}` with a value above 0 that is at least this many days before a day. */
export const before = (rows, field, newest, days) => rows.findLast((row) => {
  const age = (Date.parse(newest) - Date.parse(row.day)) / DAY_MILLISECONDS;
  return row[field] && age >= days && age <= days + LATE_DAYS;
});
