/**
 * What several instances on one inbox have together, besides its events. Times are on the store's clock alone:
 * what one instance is told is a span, for its own clock may be another one.
 *
 * Words: an *instance* is a process that has the inbox open; a *leader* is the one instance that does what
 * only one may do; its *term* is a number that grows with each leader, and fences what a leader writes.
 *
 * Promises reject with a `ServiceBotError` STORE_UNAVAILABLE when the store cannot do it now.
 */

/** An instance, for people. Spans are milliseconds. */
export interface InstanceReport {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** Of service-bot. */
  readonly version: string;
  /** How long ago it began. */
  readonly startedMsAgo: number;
  /** How long ago it last gave a sign of life. */
  readonly seenMsAgo: number;
  /** How long ago it last stored a delivery; undefined when it has stored none. */
  readonly deliveredMsAgo: number | undefined;
}

/** Who leads, for people. */
export interface LeaderReport {
  /** The id of the instance; undefined while nobody leads. */
  readonly holder: string | undefined;
  readonly term: number;
  /** Until the lease ends unless it is renewed, in milliseconds. */
  readonly expiresInMs: number;
}

/** The instances that are there, and what they do together. */
export interface SharedReport {
  /** Those that gave a sign of life lately, the oldest first. */
  readonly instances: readonly InstanceReport[];
  /** Who reads the event log; undefined where nobody ever did. */
  readonly poller: LeaderReport | undefined;
  /** How many events have ended in the last 60 seconds. */
  readonly endedLastMinute: number;
}

/** What an instance says about itself. */
export interface InstanceDetails {
  readonly host: string;
  readonly pid: number;
  readonly version: string;
}

/** How an instance stands after it has asked to lead. */
export type Candidacy =
  | {
      readonly leads: true;
      readonly term: number;
      /** True when there was a time before this term in which no instance was there. */
      readonly afterGap: boolean;
    }
  /** Somebody else leads; the lease ends then, unless it is renewed. */
  | { readonly leads: false; readonly expiresInMs: number };

export interface Leases {
  /**
   * Begins a term, or renews the one that this instance has: `term`, where it has one.
   *
   * @param leaseMs the term ends so long after this, unless it is renewed
   */
  lead(name: string, leaseMs: number, term?: number): Promise<Candidacy>;

  /** Ends the term at once, and tells the other instances. Nothing happens when it is over. */
  resign(name: string, term: number): Promise<void>;
}

/** A text that a leader leaves for the others, and for whoever leads after it. */
export interface Note {
  readonly text: string;
  readonly msAgo: number;
}

export interface Notes {
  /** False when the term is over: then nothing is written. */
  write(name: string, term: number, text: string): Promise<boolean>;
  read(name: string): Promise<Note | undefined>;
}

/** A delivery of the webhook that an instance has stored. */
export interface Delivery {
  readonly msAgo: number;
  readonly events: readonly { readonly id: string; readonly type: string }[];
}

export interface Deliveries {
  /** Resolves once the other instances can read them. */
  add(deliveries: readonly Delivery[]): Promise<void>;
  /** Those of all instances, this one included, that it has not read yet, the oldest first; of the last minutes. */
  read(): Promise<readonly Delivery[]>;
}

/** Subject of a notification between instances. */
export type Topic = "leader" | "note";

/** One instance's view of what all have together. */
export interface Shared {
  /** Names this instance. */
  readonly id: string;
  readonly leases: Leases;
  readonly notes: Notes;
  readonly deliveries: Deliveries;

  /** Gives a sign of life. Resolves to how many instances there are, this one included. */
  beat(details: InstanceDetails, deliveredMsAgo: number | undefined): Promise<number>;

  /** This instance ends: it is not counted any more. */
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
   * Calls `listener` when another instance has changed something, or may have: then `topic` is undefined.
   * Returns what ends that. A call that is lost costs time and nothing else.
   */
  onChange(listener: (topic: Topic | undefined) => void): () => void;
}
