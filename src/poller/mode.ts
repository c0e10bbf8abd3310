/**
 * Decides how often the log is read. Pure: observations go in, the next state and perhaps a switch
 * come out. Time is the platform's (milliseconds since 1970), because events are dated by it.
 *
 * - *auditing*: the webhook does the work, and the log is read now and then to find what it lost.
 * - *polling*: the webhook is silent, and the log is read every few seconds.
 *
 * "Silent" is not "no traffic". Only an event that the log had first, and that the webhook has not
 * brought `silenceMs` after it was made, says that the webhook is down.
 */
export type Mode = "auditing" | "polling";

/** An event that was read from the log before the webhook brought it. */
export interface FoundEvent {
  readonly id: string;
  readonly type: string;
  /** When it was made; when it was found if its date cannot be read. */
  readonly at: number;
}

/** An event that the webhook has yet to bring. */
export interface AwaitedEvent extends FoundEvent {
  /** When it was read from the log. */
  readonly foundAt: number;
}

export interface ModeState {
  readonly mode: Mode;
  /** Events that the webhook has yet to bring. */
  readonly unconfirmed: readonly AwaitedEvent[];
  /** The types that come by webhook, which may be subscribed to a part of them. */
  readonly webhookTypes: ReadonlySet<string>;
  /** The ids of the last delivery. */
  readonly lastDelivery: ReadonlySet<string>;
  /** When the first delivery came after the last switch to polling; undefined before there was either. */
  readonly deliveredAt: number | undefined;
  /** How many rounds in a row found nothing that the webhook should have brought. */
  readonly cleanRounds: number;
}

export type Observation =
  /** The webhook brought these events, new ones or repeats. */
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
      /** For the first round after a start that continues from a stored cursor: when the bot started. */
      readonly resumedAt?: number | undefined;
      /** True when the reading failed on the way to the end. */
      readonly partial?: boolean;
    }
  /** Time has passed. */
  | { readonly kind: "tick"; readonly now: number };

export interface ModeStep {
  readonly state: ModeState;
  /** Set when the mode has changed; `reason` is for people. */
  readonly switched?: { readonly to: Mode; readonly reason: string };
}

/** Unconfirmed events to remember; more would add nothing. */
const MAX_UNCONFIRMED = 1_000;

/**
 * In ms. An event that committed late may be old when it is found, and on its way, so the webhook has at least this time
 * after the finding. Less than two polls, so that the takeover keeps its time.
 */
const UNDER_WAY_MS = 5_000;

/** Rounds without a finding that end polling. */
const CLEAN_ROUNDS = 2;

export function initialMode(webhookTypes: ReadonlySet<string>): ModeState {
  return {
    mode: "auditing",
    unconfirmed: [],
    webhookTypes,
    lastDelivery: new Set(),
    deliveredAt: undefined,
    cleanRounds: 0,
  };
}

/** @param silenceMs how long the webhook may take to bring an event, in milliseconds */
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

/** Returns when to check the state even if nothing happens; undefined if never. */
export function nextDeadline(state: ModeState, silenceMs: number): number | undefined {
  if (state.mode === "polling" || state.unconfirmed.length === 0) return undefined;
  return Math.min(...state.unconfirmed.map((event) => dueAt(event, silenceMs)));
}

/** Returns when the webhook must have brought an event, whose date counts up to the time of its finding. */
function dueAt({ at, foundAt }: AwaitedEvent, silenceMs: number): number {
  return Math.max(Math.min(at, foundAt) + silenceMs, foundAt + UNDER_WAY_MS);
}

function delivered(
  state: ModeState,
  { events, now }: Extract<Observation, { kind: "delivery" }>,
): ModeState {
  const ids = new Set(events.map(({ id }) => id));
  const webhookTypes = new Set([...state.webhookTypes, ...events.map(({ type }) => type)]);
  const unconfirmed = state.unconfirmed.filter(({ id }) => !ids.has(id));
  const next = { ...state, webhookTypes, unconfirmed, lastDelivery: ids };
  if (state.mode === "auditing" || events.length === 0) return next;
  // A repeated event shows that our answers do not get through, and the webhook will soon be silent.
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
  if (missed.length > 0) return toPolling(state, `${count(missed)} arrived while the bot was away`);
  return checkSilence({ ...state, unconfirmed: awaiting(state, expected, now) }, now, silenceMs);
}

function polled(
  state: ModeState,
  { found, now, partial = false }: Extract<Observation, { kind: "round" }>,
  silenceMs: number,
): ModeStep {
  // Before the first delivery there is nothing to compare with.
  if (state.deliveredAt === undefined) return { state };
  const { deliveredAt } = state;
  const expected = found.filter((event) => isExpected(state, event) && !isFromBefore(state, event));
  const unconfirmed = awaiting(state, expected, now);
  const late = overdue(unconfirmed, now, silenceMs);
  // The webhook is silent again. It may never bring these events, so its next delivery is a new beginning.
  if (late.length > 0) return { state: startPolling(without(state, late)) };
  const cleanRounds = partial ? state.cleanRounds : state.cleanRounds + 1;
  const next = { ...state, unconfirmed, cleanRounds };
  // True once every event that the webhook does not bring would be overdue.
  const doubtful = unconfirmed.some(({ at }) => now - at > silenceMs);
  const proven = unconfirmed.length === 0 || (!doubtful && now - deliveredAt > silenceMs);
  if (cleanRounds < CLEAN_ROUNDS || !proven) return { state: next };
  return {
    state: { ...next, mode: "auditing", cleanRounds: 0 },
    switched: { to: "auditing", reason: "the webhook delivers again" },
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
 * Forgets the types of events that did not come, until they come again. The webhook may be back without them, if its owner
 * has changed the subscription.
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

/** A type that never came by webhook is outside its subscription, unless no event ever came. */
function isExpected(state: ModeState, event: FoundEvent): boolean {
  return state.webhookTypes.size === 0 || state.webhookTypes.has(event.type);
}

/**
 * An event that was made while the webhook was off may never come by it, even if it is found only now: a row
 * that committed late may be behind everything that was read while polling, and wait for an audit.
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
