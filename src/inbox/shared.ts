/**
 * State that several instances on one inbox share, besides its events. Times are on the store's clock alone, and instances
 * get spans, because their own clocks may differ.
 *
 * Words: an *instance* is a process that has the inbox open; a *leader* is the one instance that does what
 * only one may do; its *term* is a number that grows with each leader, and fences the leader's writes.
 *
 * Promises reject with a `ServiceBotError` STORE_UNAVAILABLE when the store cannot answer now.
 */

/** An instance, for people. Spans are milliseconds. */
export interface InstanceReport {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** Version of service-bot. */
  readonly version: string;
  /** Since its start. */
  readonly startedMsAgo: number;
  /** Since its last sign of life. */
  readonly seenMsAgo: number;
  /** Since it last stored a delivery; undefined if it has stored none. */
  readonly deliveredMsAgo: number | undefined;
}

/** The leader, for people. */
export interface LeaderReport {
  /** The id of the instance; undefined without a leader. */
  readonly holder: string | undefined;
  readonly term: number;
  /** Until the lease ends unless it is renewed, in milliseconds. */
  readonly expiresInMs: number;
}

/** The live instances, and what they do together. */
export interface SharedReport {
  /** Instances with a recent sign of life, the oldest first. */
  readonly instances: readonly InstanceReport[];
  /** The instance that reads the event log; undefined before the first one. */
  readonly poller: LeaderReport | undefined;
  /** How many events have ended in the last 60 seconds. */
  readonly endedLastMinute: number;
}

export interface InstanceDetails {
  readonly host: string;
  readonly pid: number;
  readonly version: string;
}

/** Answer to an instance that asks to lead. */
export type Candidacy =
  | {
      readonly leads: true;
      readonly term: number;
      /** True if no instance was live right before this term. */
      readonly afterGap: boolean;
    }
  /** Another instance leads, until its lease ends or is renewed. */
  | { readonly leads: false; readonly expiresInMs: number };

/** A text that a leader leaves for the others, and for the next leader. */
export interface Note {
  readonly text: string;
  readonly msAgo: number;
}

/** A delivery of the webhook that an instance has stored. */
export interface Delivery {
  readonly msAgo: number;
  readonly events: readonly { readonly id: string; readonly type: string }[];
}

/** Subject of a notification between instances. */
export type Topic = "leader" | "note";

/** The state that instances share, as one of them sees it. */
export interface Shared {
  /** Names this instance. */
  readonly id: string;

  /**
   * Begins a term, or renews `term` if this instance has it.
   *
   * @param leaseMs the term ends after this time unless it is renewed
   */
  lead(name: string, leaseMs: number, term?: number): Promise<Candidacy>;

  /** Ends the term at once, and notifies the other instances. Does nothing if the term is over. */
  resign(name: string, term: number): Promise<void>;

  /** Leaves a note for the other instances. Returns false, and writes nothing, if the term is over. */
  writeNote(name: string, term: number, text: string): Promise<boolean>;

  readNote(name: string): Promise<Note | undefined>;

  /** Resolves once the other instances can read the deliveries. */
  addDeliveries(deliveries: readonly Delivery[]): Promise<void>;

  /** Returns the deliveries of all instances, within the last minutes, that this one has not read yet; the oldest first. */
  readDeliveries(): Promise<readonly Delivery[]>;

  /** Gives a sign of life. Resolves to the number of live instances, this one included. */
  beat(details: InstanceDetails, deliveredMsAgo: number | undefined): Promise<number>;

  /** Deregisters this instance. */
  leave(): Promise<void>;

  /**
   * Makes sure that this instance may still use the inbox: that no newer version has changed it beyond what this one
   * works with, and that no copy is being made of it or has taken its place.
   *
   * @throws {ServiceBotError} INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_MOVED
   */
  requireUsable(): Promise<void>;

  report(): Promise<SharedReport>;

  /**
   * Calls `listener` when another instance has changed something; without a topic if anything may have changed. Returns a
   * function that unsubscribes. A lost notification costs time alone.
   */
  onChange(listener: (topic: Topic | undefined) => void): () => void;
}
