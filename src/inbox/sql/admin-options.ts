import {
  ANY_NUMBER,
  FUNCTION,
  NUMBER,
  numberIn,
  oneOf,
  required,
  SIGNAL,
  STRING,
} from "../../core/kinds.ts";
import { type OptionTable, readFields, readOptions } from "../../core/option-checks.ts";
import type {
  InboxDecisionFilter,
  InboxDecisionOptions,
  InboxFilter,
  InboxListOptions,
  InboxRetryOptions,
  PageOptions,
  StateListOptions,
  TimerListOptions,
} from "../admin.ts";
import type { TimerName } from "../effects.ts";
import { eventStates, sources } from "../event-records.ts";

/** Rules for the arguments of the inbox's administration. An unknown filter would otherwise match every event. */

const FILTER: OptionTable<InboxFilter> = {
  type: STRING,
  lane: STRING,
  source: oneOf(sources),
  error: STRING,
  code: STRING,
  since: NUMBER,
  until: NUMBER,
  receivedSince: NUMBER,
  receivedUntil: NUMBER,
  user: STRING,
};

/** Every number is a valid page size, because the store clamps it. */
const PAGE: OptionTable<PageOptions> = {
  limit: ANY_NUMBER,
  after: STRING,
};

export const LIST_OPTIONS: OptionTable<InboxListOptions> = {
  ...FILTER,
  ...PAGE,
  state: oneOf(eventStates),
};

export const STATES_OPTIONS: OptionTable<StateListOptions> = { ...PAGE, prefix: STRING };

export const TIMERS_OPTIONS: OptionTable<TimerListOptions> = {
  ...PAGE,
  lane: STRING,
  name: STRING,
};

export const DECISION_FILTER: OptionTable<InboxDecisionFilter> = {
  ...FILTER,
  limit: numberIn(),
  state: oneOf(["dead", "pending"]),
};

export const DECISION_OPTIONS: OptionTable<InboxDecisionOptions> = {
  signal: SIGNAL,
  onProgress: FUNCTION,
};

export const RETRY_OPTIONS: OptionTable<InboxRetryOptions> = {
  ...DECISION_OPTIONS,
  assume: oneOf(["done", "absent"]),
};

const TIMER: OptionTable<TimerName> = {
  lane: required(STRING),
  name: required(STRING),
  key: STRING,
};

/**
 * Reads the target of a decision: an id, or a filter.
 *
 * @throws {ServiceBotError} INVALID_OPTION
 */
export function readTarget(target: string | InboxDecisionFilter): string | InboxDecisionFilter {
  return typeof target === "string" ? target : readOptions(target, DECISION_FILTER, "target.");
}

/** @throws {ServiceBotError} INVALID_OPTION */
export function readTimer(given: TimerName): TimerName {
  return readFields(given, TIMER, "timer.");
}
