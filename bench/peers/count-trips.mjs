import pg from "pg";

let trips = 0;

// What pools and clients run goes through here; a query object is one statement as well.
const query = pg.Client.prototype.query;
pg.Client.prototype.query = function count(...args) {
  trips += 1;
  return query.apply(this, args);
};

/** How many queries this process has sent. */
export function tripsSoFar() {
  return trips;
}

/** What some work takes, in time and round trips. */
export async function measured(work) {
  const before = tripsSoFar();
  const started = performance.now();
  await work();
  return { ms: performance.now() - started, trips: tripsSoFar() - before };
}
