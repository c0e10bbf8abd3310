/**
 * State that instances on one inbox share in addition to events. All times are on the store's clock. Instances receive
 * durations, because their own clocks may differ.
 *
 * An *instance* is a process that has the inbox open. A *leader* is the only instance that may do a task. Its *term* is
 * a number that grows with each leader and fences the leader's writes.
 *
 * Promises reject with a `ServiceBotError` STORE_UNAVAILABLE if the store does not respond.
 */

/** An instance, for display. All durations are in ms. */
export interface InstanceReport {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly startedMsAgo: number;
  /** Time since the last heartbeat. */
  readonly seenMsAgo: number;
  /** Time since the instance last stored a delivery. `undefined` if it has never stored one. */
  readonly deliveredMsAgo: number | undefined;
}

/** The leader, for display. */
export interface LeaderReport {
  /** Id of the leading instance. `undefined` if there is no leader. */
  readonly holder: string | undefined;
  readonly term: number;
  /** Time until the lease expires unless it is renewed, in ms. */
  readonly expiresInMs: number;
}

/** Live instances and their shared activity. */
export interface SharedReport {
  /** Live instances, oldest first. */
  readonly instances: readonly InstanceReport[];
  /** The instance that reads the event log. `undefined` if no instance has ever read it. */
  readonly poller: LeaderReport | undefined;
  /** Number of events that ended in the last 60 seconds. */
  readonly endedLastMinute: number;
}

export interface InstanceDetails {
  readonly host: string;
  readonly pid: number;
  readonly version: string;
}

/** Outcome of an attempt to become or stay the leader. */
export type Candidacy =
  | {
      readonly leads: true;
      readonly term: number;
      /** True if no instance was alive just before this term began. */
      readonly afterGap: boolean;
    }
  /** Another instance leads, and its lease expires after `expiresInMs` unless it is renewed. */
  | { readonly leads: false; readonly expiresInMs: number };

/** Text that a leader publishes for the other instances and the next leader. */
export interface Note {
  readonly text: string;
  readonly msAgo: number;
}

/** A webhook delivery that an instance has stored. */
export interface Delivery {
  readonly msAgo: number;
  readonly events: readonly { readonly id: string; readonly type: string }[];
}

/** Topic of a notification between instances. */
export type Topic = "leader" | "note";

export interface Shared {
  readonly id: string;

  /**
   * Begins a term, or renews `term` if it belongs to this instance.
   *
   * @param leaseMs time in ms after which the term ends unless it is renewed
   */
  lead(name: string, leaseMs: number, term?: number): Promise<Candidacy>;

  /** Ends the term at once and notifies the other instances. Does nothing if the term is already over. */
  resign(name: string, term: number): Promise<void>;

  /** Writes a note for the other instances. Returns false and writes nothing if the term is over. */
  writeNote(name: string, term: number, text: string): Promise<boolean>;

  readNote(name: string): Promise<Note | undefined>;

  /** Resolves once the other instances can read the deliveries. */
  addDeliveries(deliveries: readonly Delivery[]): Promise<void>;

  /** Returns recent deliveries to any instance that this instance has not read yet, oldest first. */
  readDeliveries(): Promise<readonly Delivery[]>;

  /** Sends a heartbeat. Resolves to the number of live instances, including this one. */
  beat(details: InstanceDetails, deliveredMsAgo: number | undefined): Promise<number>;

  leave(): Promise<void>;

  /**
   * Checks that this instance may still use the inbox. It may not if a newer version has changed the schema
   * incompatibly, or if a copy is in progress or has replaced the inbox.
   *
   * @throws {ServiceBotError} INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_MOVED
   */
  requireUsable(): Promise<void>;

  report(): Promise<SharedReport>;

  /**
   * Calls `listener` with a topic after another instance has changed it, or without a topic if anything may have
   * changed. Returns an unsubscribe function. A lost notification only causes a delay.
   */
  onChange(listener: (topic: Topic | undefined) => void): () => void;
}
