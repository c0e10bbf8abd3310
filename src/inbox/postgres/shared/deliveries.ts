import type { Deliveries, Delivery } from "../../shared.ts";
import type { Queries } from "../database.ts";

/** Deliveries of longer ago say nothing any more, in milliseconds. */
const KEPT_MS = 300_000;

/** So long after a number was drawn its row is there, in milliseconds: a statement takes less. */
const COMMITTED_MS = 10_000;

const ADD = `
WITH old AS (
  DELETE FROM {schema}.delivery WHERE seq IN (
    SELECT seq FROM {schema}.delivery WHERE at < {now} - ${KEPT_MS}
    ORDER BY at LIMIT 1000 FOR UPDATE SKIP LOCKED)
)
INSERT INTO {schema}.delivery (instance, at, events)
SELECT $1, {now} - ms, events FROM unnest($2::bigint[], $3::text[]) AS input (ms, events)`;

const READ = `
SELECT seq, {now} - at AS "msAgo", events FROM {schema}.delivery
WHERE seq > $1 AND at > {now} - ${KEPT_MS} ORDER BY at, seq`;

interface DeliveryRow {
  readonly seq: number;
  readonly msAgo: number;
  readonly events: string;
}

/** What the webhook has brought to any instance. */
export class PostgresDeliveries implements Deliveries {
  readonly #queries: Queries;
  readonly #instance: string;
  /** Everything up to this was read. What is after it may have holes: rows appear out of their order. */
  #readTo = 0;
  #readAfter = new Set<number>();

  constructor(queries: Queries, instance: string) {
    this.#queries = queries;
    this.#instance = instance;
  }

  async add(deliveries: readonly Delivery[]): Promise<void> {
    if (deliveries.length === 0) return;
    const ages = deliveries.map(({ msAgo }) => msAgo);
    const texts = deliveries.map(({ events }) =>
      JSON.stringify(events.map(({ id, type }) => [id, type])),
    );
    await this.#queries.rows(ADD, [this.#instance, ages, texts]);
  }

  async read(): Promise<readonly Delivery[]> {
    const rows = await this.#queries.rows<DeliveryRow>(READ, [this.#readTo]);
    const fresh = rows.filter(({ seq }) => !this.#readAfter.has(seq));
    for (const { seq, msAgo } of rows) {
      this.#readAfter.add(seq);
      if (msAgo > COMMITTED_MS && seq > this.#readTo) this.#readTo = seq;
    }
    this.#readAfter = new Set([...this.#readAfter].filter((seq) => seq > this.#readTo));
    return fresh.map(({ msAgo, events }) => ({ msAgo, events: eventsIn(events) }));
  }
}

function eventsIn(text: string): Delivery["events"] {
  const pairs: readonly (readonly [string, string])[] = JSON.parse(text);
  return pairs.map(([id, type]) => ({ id, type }));
}
