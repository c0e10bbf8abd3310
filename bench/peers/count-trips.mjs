import pg from "pg";

let trips = 0;

// Both pools and clients send their queries through this method. Each query object counts as one statement.
const query = pg.Client.prototype.query;
pg.Client.prototype.query = function count(...args) {
  trips += 1;
  return query.apply(this, args);
};

export function tripsSoFar() {
  return trips;
}

export async function measured(work) {
  const before = tripsSoFar();
  const started = performance.now();
  await work();
  return { ms: performance.now() - started, trips: tripsSoFar() - before };
}
