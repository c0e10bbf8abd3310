import pg from "pg";

let trips = 0;

// Pools and clients both run their queries through this method. A query object counts as one statement.
const query = pg.Client.prototype.query;
pg.Client.prototype.query = function count(...args) {
  trips += 1;
  return query.apply(this, args);
};

/** Returns the number of queries that this process has sent. */
export function tripsSoFar() {
  return trips;
}

/** Measures the time and the round trips of some work. */
export async function measured(work) {
  const before = tripsSoFar();
  const started = performance.now();
  await work();
  return { ms: performance.now() - started, trips: tripsSoFar() - before };
}
