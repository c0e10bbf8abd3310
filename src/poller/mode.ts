import { minOf } from "../core/extremes.ts";
import { isEventType } from "../events/payload.ts";

/**
 * Decides how often to read the log. The functions are pure: they take observations, and return the next state and
 * possibly a switch. Times are on the platform's clock (ms since 1970), because the platform dates the events.
 *
 * - *auditing*: the webhook delivers the events, and the bot reads the log occasionally to find lost ones.
 * - *polling*: the webhook is silent, and the bot reads the log every few seconds.
 *
 * "Silent" does not mean "no traffic". The webhook counts as down only if an event in the log has not arrived by
 * webhook within `silenceMs` of its creation.
 */
export type Mode = "auditing" | "polling";

/** An event that the bot found in the log before the webhook delivered it. */
export interface FoundEvent {
  readonly id: string;
  readonly type: string;
  /** Creation time, or the time when the event was found if its date is unreadable. */
  readonly at: number;
}

/** An event that the webhook has not delivered yet. */
export interface AwaitedEvent extends FoundEvent {
  /** Time when the event was found in the log. */
  readonly foundAt: number;
}

export interface ModeState {
  readonly mode: Mode;
  /** Events that the webhook has not delivered yet. */
  readonly unconfirmed: readonly AwaitedEvent[];
  /** The platform's event types that arrive by webhook, because the webhook may be subscribed to only some types. */
  readonly webhookTypes: ReadonlySet<string>;
  /** Ids of the events in the last delivery. */
  readonly lastDelivery: ReadonlySet<string>;
  /** Time of the first delivery after the last switch to polling. `undefined` until then. */
  readonly deliveredAt: number | undefined;
  /** Number of consecutive rounds in which every event had arrived by webhook. */
  readonly cleanRounds: number;
}

export type Observation =
  /** The webhook delivered these events. They may be new or repeated. Events of own types are ignored. */
  | {
      readonly kind: "delivery";
      readonly now: number;
      readonly events: readonly { readonly id: string; readonly type: string }[];
    }
  /** The log was read to its end, and these events were not in the inbox. */
  | {
      readonly kind: "round";
      readonly now: number;
      readonly found: readonly FoundEvent[];
      /** Time when the bot started. Set only in the first round after a start that continues from a stored cursor. */
      readonly resumedAt?: number | undefined;
      /** True if the read failed before the end. */
      readonly partial?: boolean;
    }
  | { readonly kind: "tick"; readonly now: number };

export interface ModeStep {
  readonly state: ModeState;
  /** Set if the mode has changed. `reason` is for display. */
  readonly switched?: { readonly to: Mode; readonly reason: string };
}

/** Maximum number of unconfirmed events to track. More events would add no information. */
const MAX_UNCONFIRMED = 1_000;

/**
 * Minimum time that the webhook gets after an event was found, in ms. An event that was committed late may look old
 * when it is found, while its delivery is still in progress. The time is shorter than two polls, so it does not delay
 * the switch to polling.
 */
const UNDER_WAY_MS = 5_000;

/** Number of consecutive clean rounds that end polling. */
const CLEAN_ROUNDS = 2;

export function initialMode(webhookTypes: ReadonlySet<string>): ModeState {
  return {
    mode: "auditing",
    unconfirmed: [],
    webhookTypes: platformTypes(webhookTypes),
    lastDelivery: new Set(),
    deliveredAt: undefined,
    cleanRounds: 0,
  };
}

/** Returns the types that say something about the platform's webhook. */
export function platformTypes(types: Iterable<string>): ReadonlySet<string> {
  return new Set([...types].filter(isEventType));
}

/** @param silenceMs time that the webhook may take to deliver an event, in ms */
export function observe(state: ModeState, observation: Observation, silenceMs: number): ModeStep {
  switch (observation.kind) {
    case "delivery":
      return { state: delivered(state, observation) };
    case "round":
      return state.mode === "auditing"
        ? audited(state, observation, silenceMs)
        : polled(state, observation, silenceMs);
    case "tick":
      return state.mode === "auditing"
        ? checkSilence(state, observation.now, silenceMs)
        : { state };
  }
}

/** Returns the time at which to check the state even without an observation, or `undefined` if no check is due. */
export function nextDeadline(state: ModeState, silenceMs: number): number | undefined {
  if (state.mode === "polling" || state.unconfirmed.length === 0) return undefined;
  return minOf(state.unconfirmed.map((event) => dueAt(event, silenceMs)));
}

/**
 * Returns the deadline for the webhook to deliver an event. Ignores a creation date later than the time when the event
 * was found.
 */
function dueAt({ at, foundAt }: AwaitedEvent, silenceMs: number): number {
  return Math.max(Math.min(at, foundAt) + silenceMs, foundAt + UNDER_WAY_MS);
}

function delivered(
  state: ModeState,
  { events: given, now }: Extract<Observation, { kind: "delivery" }>,
): ModeState {
  // The author's services use the webhook's URL even if the platform's webhook is off.
  const events = given.filter(({ type }) => isEventType(type));
  if (events.length === 0 && given.length > 0) return state;
  const ids = new Set(events.map(({ id }) => id));
  const webhookTypes = new Set([...state.webhookTypes, ...events.map(({ type }) => type)]);
  const unconfirmed = state.unconfirmed.filter(({ id }) => !ids.has(id));
  const next = { ...state, webhookTypes, unconfirmed, lastDelivery: ids };
  if (state.mode === "auditing" || events.length === 0) return next;
  // A repeated event means that the platform does not receive the bot's responses, and the webhook will soon be silent.
  if (events.some(({ id }) => state.lastDelivery.has(id))) {
    return startPolling(next);
  }
  return state.deliveredAt === undefined ? { ...next, deliveredAt: now } : next;
}

function audited(
  state: ModeState,
  { found, now, resumedAt }: Extract<Observation, { kind: "round" }>,
  silenceMs: number,
): ModeStep {
  const expected = found.filter((event) => isExpected(state, event) && !isFromBefore(state, event));
  const missed = expected.filter(({ at }) => resumedAt !== undefined && at < resumedAt);
  if (missed.length > 0)
    return toPolling(state, `${count(missed)} arrived while the bot was offline`);
  return checkSilence({ ...state, unconfirmed: awaiting(state, expected, now) }, now, silenceMs);
}

function polled(
  state: ModeState,
  { found, now, partial = false }: Extract<Observation, { kind: "round" }>,
  silenceMs: number,
): ModeStep {
  // Before the first delivery, there is nothing to compare the log with.
  if (state.deliveredAt === undefined) return { state };
  const { deliveredAt } = state;
  const expected = found.filter((event) => isExpected(state, event) && !isFromBefore(state, event));
  const unconfirmed = awaiting(state, expected, now);
  const late = overdue(unconfirmed, now, silenceMs);
  // The webhook is silent again. It may never deliver these events, so counting starts over with the next delivery.
  if (late.length > 0) return { state: startPolling(without(state, late)) };
  const cleanRounds = partial ? state.cleanRounds : state.cleanRounds + 1;
  const next = { ...state, unconfirmed, cleanRounds };
  // Polling ends only once any event that the webhook does not deliver would be overdue.
  const doubtful = unconfirmed.some(({ at }) => now - at > silenceMs);
  const proven = unconfirmed.length === 0 || (!doubtful && now - deliveredAt > silenceMs);
  if (cleanRounds < CLEAN_ROUNDS || !proven) return { state: next };
  return {
    state: { ...next, mode: "auditing", cleanRounds: 0 },
    switched: { to: "auditing", reason: "webhook deliveries have resumed" },
  };
}

function checkSilence(state: ModeState, now: number, silenceMs: number): ModeStep {
  const late = overdue(state.unconfirmed, now, silenceMs);
  if (late.length === 0) return { state };
  const patience = silenceMs < 1_000 ? `${silenceMs} ms` : `${Math.round(silenceMs / 1000)} s`;
  const reason = `${count(late)} did not arrive by webhook within ${patience}`;
  return toPolling(without(state, late), reason);
}

function toPolling(state: ModeState, reason: string): ModeStep {
  return { state: startPolling(state), switched: { to: "polling", reason } };
}

function startPolling(state: ModeState): ModeState {
  return { ...state, mode: "polling", unconfirmed: [], deliveredAt: undefined, cleanRounds: 0 };
}

/**
 * Removes the types of late events until an event of that type arrives again. If the owner has changed the webhook's
 * subscription, the webhook works but no longer delivers these types.
 */
function without(state: ModeState, late: readonly FoundEvent[]): ModeState {
  const missing = new Set(late.map(({ type }) => type));
  const left = [...state.webhookTypes].filter((type) => !missing.has(type));
  return { ...state, webhookTypes: new Set(left) };
}

function awaiting(state: ModeState, found: readonly FoundEvent[], now: number): AwaitedEvent[] {
  const awaited = found.map((event) => ({ ...event, foundAt: now }));
  return [...state.unconfirmed, ...awaited].slice(-MAX_UNCONFIRMED);
}

/**
 * Returns whether the webhook should have delivered an event. A type that never arrived by webhook is outside its
 * subscription, unless no event ever arrived.
 */
function isExpected(state: ModeState, event: FoundEvent): boolean {
  return state.webhookTypes.size === 0 || state.webhookTypes.has(event.type);
}

/**
 * Returns whether an event was created while the webhook was off, so it may never be delivered. Such an event may be
 * found late, because only an audit finds events that were committed late, before the head.
 */
function isFromBefore({ deliveredAt }: ModeState, { at }: FoundEvent): boolean {
  return deliveredAt !== undefined && at < deliveredAt;
}

function overdue(
  events: readonly AwaitedEvent[],
  now: number,
  silenceMs: number,
): readonly AwaitedEvent[] {
  return events.filter((event) => now > dueAt(event, silenceMs));
}

function count(events: readonly FoundEvent[]): string {
  return events.length === 1 ? "1 event" : `${events.length} events`;
}
