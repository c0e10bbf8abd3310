import { EVENT_LOG } from "../inbox.ts";
import type {
  Candidacy,
  Delivery,
  InstanceDetails,
  InstanceReport,
  LeaderReport,
  Note,
  Shared,
  SharedReport,
  Topic,
} from "../shared.ts";
import type { Queries } from "./database.ts";
import { dialect } from "./dialect.ts";

/** Time without a heartbeat after which an instance counts as dead, in ms. */
export const ALIVE_MS = 15_000;

/**
 * Condition for a live instance. A heartbeat far in the future does not count, because it was sent before the
 * database's clock was set back, for example by a failover. A live instance soon sends another heartbeat.
 */
export const ALIVE: string = `seen_at > {now} - ${ALIVE_MS} AND seen_at <= {now} + ${ALIVE_MS}`;

/** Time without a heartbeat after which a registration is deleted, in ms. */
const FORGOTTEN_MS = 3_600_000;

const BEAT = `
WITH forgotten AS (
  DELETE FROM {schema}.instance WHERE id IN (
    SELECT id FROM {schema}.instance WHERE seen_at < {now} - ${FORGOTTEN_MS} FOR UPDATE SKIP LOCKED)
), seen AS (
  INSERT INTO {schema}.instance (id, host, pid, version, started_at, seen_at, delivered_at)
  VALUES ($1, $2, $3, $4, {now}, {now}, {now} - $5::bigint)
  ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, delivered_at = excluded.delivered_at
)
SELECT count(*) + 1 AS n FROM {schema}.instance WHERE id <> $1 AND ${ALIVE}`;

const LEAVE = "DELETE FROM {schema}.instance WHERE id = $1";

/**
 * Begins a term, or renews term `$4`. The row is checked again under its lock, so only one of two candidates takes over
 * an expired lease. After a wait, the statement's time may be slightly old, which only shortens the lease. There is a
 * gap if every live instance started after the previous leader last renewed its lease.
 */
const LEAD = `
WITH before AS MATERIALIZED (
  SELECT term, expires_at, renewed_at FROM {schema}.leader WHERE name = $1
), led AS (
  INSERT INTO {schema}.leader AS at (name, holder, term, expires_at, renewed_at)
  SELECT $1, $2, 1, {now} + $3::bigint, {now} WHERE $4::bigint IS NULL OR EXISTS (SELECT FROM before)
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at,
    renewed_at = excluded.renewed_at, term = at.term + CASE WHEN $4::bigint IS NULL THEN 1 ELSE 0 END
  WHERE CASE WHEN $4::bigint IS NULL THEN at.expires_at <= {now} OR at.holder = $2
    ELSE at.holder = $2 AND at.term = $4::bigint END
  RETURNING term
)
SELECT (SELECT term FROM led) AS term, (SELECT expires_at FROM before) - {now} AS left,
  NOT EXISTS (SELECT FROM {schema}.instance, before
    WHERE started_at <= before.renewed_at AND ${ALIVE}) AS gap`;

const RESIGN = `
UPDATE {schema}.leader SET holder = NULL, expires_at = {now}, renewed_at = {now}
WHERE name = $1 AND term = $2 AND holder = $3 RETURNING name`;

/** Locks the leader's row until the note is written, so that the term cannot end first. */
const WRITE_NOTE = `
INSERT INTO {schema}.note (name, term, text, written_at)
SELECT name, term, $3, {now} FROM {schema}.leader WHERE name = $1 AND term = $2 FOR SHARE
ON CONFLICT (name) DO UPDATE SET term = excluded.term, text = excluded.text, written_at = excluded.written_at
RETURNING name`;

const READ_NOTE = `SELECT text, {now} - written_at AS "msAgo" FROM {schema}.note WHERE name = $1`;

/** Age after which deliveries are deleted, in ms. */
const DELIVERIES_KEPT_MS = 300_000;

/** Time in ms after which a numbered row is visible to every instance, because no statement takes this long. */
const COMMITTED_MS = 10_000;

const ADD_DELIVERIES = `
WITH old AS (
  DELETE FROM {schema}.delivery WHERE seq IN (
    SELECT seq FROM {schema}.delivery WHERE at < {now} - ${DELIVERIES_KEPT_MS}
    ORDER BY at LIMIT 1000 FOR UPDATE SKIP LOCKED)
)
INSERT INTO {schema}.delivery (instance, at, events)
SELECT $1, {now} - ms, events FROM unnest($2::bigint[], $3::text[]) AS input (ms, events)`;

const READ_DELIVERIES = `
SELECT seq, {now} - at AS "msAgo", events FROM {schema}.delivery
WHERE seq > $1 AND at > {now} - ${DELIVERIES_KEPT_MS} ORDER BY at, seq`;

const INSTANCES = `
SELECT id, host, pid, version, {now} - started_at AS "startedMsAgo", {now} - seen_at AS "seenMsAgo",
  {now} - delivered_at AS "deliveredMsAgo"
FROM {schema}.instance WHERE ${ALIVE} ORDER BY started_at, id`;

const LEADER = `
SELECT CASE WHEN expires_at > {now} THEN holder END AS holder, term,
  greatest(0, expires_at - {now}) AS "expiresInMs"
FROM {schema}.leader WHERE name = $1`;

/** Counts the events in one index that ended in the last minute. */
const lately = (where: string) =>
  `(SELECT count(*) FROM {schema}.event WHERE ${where} AND done_at > {now} - 60000)`;

const ENDED = `SELECT ${dialect.indexes.ended.map(lately).join(" + ")} AS n`;

interface LedRow {
  /** `null` if another instance leads. */
  readonly term: number | null;
  readonly left: number | null;
  readonly gap: boolean;
}

interface DeliveryRow {
  readonly seq: number;
  readonly msAgo: number;
  readonly events: string;
}

interface InstanceRow extends Omit<InstanceReport, "deliveredMsAgo"> {
  readonly deliveredMsAgo: number | null;
}

interface LeaderRow extends Omit<LeaderReport, "holder"> {
  readonly holder: string | null;
}

type Listener = (topic: Topic | undefined) => void;

const topics: readonly Topic[] = ["leader", "note"];

export interface PostgresSharedOptions {
  readonly queries: Queries;
  readonly id: string;
  /** Notifies the other instances. Never fails. */
  readonly notify: (topic: Topic) => void;
  /** Registers this instance's session. Never fails. */
  readonly register: () => Promise<void>;
  readonly requireUsable: Shared["requireUsable"];
}

export class PostgresShared implements Shared {
  readonly id: string;
  readonly requireUsable: () => Promise<void>;
  readonly #queries: Queries;
  readonly #notify: (topic: Topic) => void;
  readonly #register: () => Promise<void>;
  readonly #listeners = new Set<Listener>();
  /**
   * All deliveries up to this number have been read. Later numbers may have gaps, because rows become visible out of
   * order.
   */
  #readTo = 0;
  #readAfter = new Set<number>();

  constructor({ queries, id, notify, register, requireUsable }: PostgresSharedOptions) {
    this.id = id;
    this.requireUsable = requireUsable;
    this.#queries = queries;
    this.#notify = notify;
    this.#register = register;
  }

  async lead(name: string, leaseMs: number, term?: number): Promise<Candidacy> {
    const values = [name, this.id, leaseMs, term ?? null];
    const [row] = await this.#queries.rows<LedRow>(LEAD, values);
    if (row?.term == null) return { leads: false, expiresInMs: Math.max(0, row?.left ?? 0) };
    return { leads: true, term: row.term, afterGap: row.gap };
  }

  async resign(name: string, term: number): Promise<void> {
    const resigned = await this.#queries.rows(RESIGN, [name, term, this.id]);
    if (resigned.length > 0) this.#notify("leader");
  }

  async writeNote(name: string, term: number, text: string): Promise<boolean> {
    const written = await this.#queries.rows(WRITE_NOTE, [name, term, text]);
    if (written.length > 0) this.#notify("note");
    return written.length > 0;
  }

  async readNote(name: string): Promise<Note | undefined> {
    const [note] = await this.#queries.rows<Note>(READ_NOTE, [name]);
    return note;
  }

  async addDeliveries(deliveries: readonly Delivery[]): Promise<void> {
    if (deliveries.length === 0) return;
    const ages = deliveries.map(({ msAgo }) => msAgo);
    const texts = deliveries.map(({ events }) =>
      JSON.stringify(events.map(({ id, type }) => [id, type])),
    );
    await this.#queries.rows(ADD_DELIVERIES, [this.id, ages, texts]);
  }

  async readDeliveries(): Promise<readonly Delivery[]> {
    const rows = await this.#queries.rows<DeliveryRow>(READ_DELIVERIES, [this.#readTo]);
    const fresh = rows.filter(({ seq }) => !this.#readAfter.has(seq));
    for (const { seq, msAgo } of rows) {
      this.#readAfter.add(seq);
      if (msAgo > COMMITTED_MS && seq > this.#readTo) this.#readTo = seq;
    }
    this.#readAfter = new Set([...this.#readAfter].filter((seq) => seq > this.#readTo));
    return fresh.map(({ msAgo, events }) => ({ msAgo, events: parseEvents(events) }));
  }

  async beat(details: InstanceDetails, deliveredMsAgo: number | undefined): Promise<number> {
    const { host, pid, version } = details;
    const values = [this.id, host, pid, version, deliveredMsAgo ?? null];
    const [row] = await this.#queries.rows<{ readonly n: number }>(BEAT, values);
    await this.#register();
    return row?.n ?? 1;
  }

  async leave(): Promise<void> {
    await this.#queries.rows(LEAVE, [this.id]);
  }

  report(): Promise<SharedReport> {
    return readSharedReport(this.#queries);
  }

  onChange(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Forwards a notification from another instance. An unknown topic comes from a newer version and means that anything
   * may have changed.
   */
  changed(word: string | undefined): void {
    const topic = topics.find((known) => known === word);
    for (const listener of this.#listeners) listener(topic);
  }
}

export async function readSharedReport(queries: Queries): Promise<SharedReport> {
  const instances = await queries.rows<InstanceRow>(INSTANCES);
  const [poller] = await queries.rows<LeaderRow>(LEADER, [EVENT_LOG]);
  const [recent] = await queries.rows<{ readonly n: number }>(ENDED);
  return {
    instances: instances.map((instance) => ({
      ...instance,
      deliveredMsAgo: instance.deliveredMsAgo ?? undefined,
    })),
    poller: poller && { ...poller, holder: poller.holder ?? undefined },
    endedLastMinute: recent?.n ?? 0,
  };
}

function parseEvents(text: string): Delivery["events"] {
  const pairs: readonly (readonly [string, string])[] = JSON.parse(text);
  return pairs.map(([id, type]) => ({ id, type }));
}
