import { look } from "../../test/support/postgres/look.ts";
import type { Figure, Samples } from "../harness/benchmark.ts";

/** Counters of a PostgreSQL server since it was set up. */
export interface Writes {
  /** Transactions that wrote something, vacuum's included. */
  readonly transactions: number;
  readonly walBytes: number;
}

/** Exact at once. The counters of `pg_stat_database` and `pg_stat_wal` are some seconds late. */
const WRITES = `
SELECT pg_snapshot_xmax(pg_current_snapshot())::text::float8 AS transactions,
  pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS "walBytes"`;

export async function readWrites(url: string): Promise<Writes> {
  const [writes] = await look<Writes & Record<string, number>>({ url }, WRITES);
  if (writes === undefined) throw new Error("the server did not respond with its counters");
  return writes;
}

/** Returns samples of what an event costs a server besides time. */
export function costSamples(
  name: string,
  events: number,
  { before, after, trips }: { before: Writes; after: Writes; trips: number },
): Samples {
  return {
    [`${name} trips`]: trips / events,
    [`${name} transactions`]: (after.transactions - before.transactions) / events,
    [`${name} wal`]: (after.walBytes - before.walBytes) / events,
  };
}

const costs: readonly (readonly [cost: string, name: string, unit: string])[] = [
  ["trips", "round trips", "per event"],
  ["transactions", "transactions", "per event"],
  ["wal", "bytes in the WAL", "bytes per event"],
];

/** Costs per event of a peer, and of ours compared with them. */
export function costFigures(ours: Figure, peer: Figure): Figure[] {
  return costs.flatMap(([cost, what, unit]) => [
    { name: `${peer.name}: ${what}`, sample: `${peer.sample} ${cost}`, unit },
    {
      ...{ name: `${ours.name}: ${what}`, sample: `${ours.sample} ${cost}`, unit },
      against: `${peer.sample} ${cost}`,
    },
  ]);
}
