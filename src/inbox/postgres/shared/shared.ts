import type { InstanceDetails, Shared, SharedReport, Topic } from "../../shared.ts";
import type { Database } from "../database.ts";
import { PostgresDeliveries } from "./deliveries.ts";
import { Instances, readSharedReport } from "./instances.ts";
import { PostgresLeases } from "./leases.ts";
import { PostgresNotes } from "./notes.ts";

type Listener = (topic: Topic | undefined) => void;

const topics: readonly Topic[] = ["leader", "note"];

/** Of a topic that a newer version tells of nothing is known but that something has changed. */
export function asTopic(word: string | undefined): Topic | undefined {
  return topics.find((topic) => topic === word);
}

export interface PostgresSharedOptions {
  readonly database: Database;
  /** Names this instance. */
  readonly id: string;
  /** Tells the other instances what has changed; it never fails. */
  readonly tell: (topic: Topic) => void;
  readonly requireUsable: Shared["requireUsable"];
}

/** What the instances on one schema have together. */
export class PostgresShared implements Shared {
  readonly id: string;
  readonly leases: PostgresLeases;
  readonly notes: PostgresNotes;
  readonly deliveries: PostgresDeliveries;
  readonly requireUsable: () => Promise<void>;
  readonly #database: Database;
  readonly #instances: Instances;
  readonly #listeners = new Set<Listener>();

  constructor({ database, id, tell, requireUsable }: PostgresSharedOptions) {
    this.id = id;
    this.requireUsable = requireUsable;
    this.#database = database;
    this.leases = new PostgresLeases(database, id, () => tell("leader"));
    this.notes = new PostgresNotes(database, () => tell("note"));
    this.deliveries = new PostgresDeliveries(database, id);
    this.#instances = new Instances(database, id);
  }

  beat(details: InstanceDetails, deliveredMsAgo: number | undefined): Promise<number> {
    return this.#instances.beat(details, deliveredMsAgo);
  }

  leave(): Promise<void> {
    return this.#instances.leave();
  }

  report(): Promise<SharedReport> {
    return readSharedReport(this.#database);
  }

  onChange(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Another instance has said that something has changed; undefined where it may have. */
  changed(topic: Topic | undefined): void {
    for (const listener of this.#listeners) listener(topic);
  }
}
