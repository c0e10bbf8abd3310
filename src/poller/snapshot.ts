import { arrayOf, nullable, number, object, oneOf, readShape, string } from "../core/shapes.ts";
import type { ErrorCode } from "../errors.ts";
import { type Mode, type ModeState, platformTypes } from "./mode.ts";

/** Error of a failed read. It contains only codes, because the platform's messages may quote any text. */
export interface PollFailure {
  /** An error code from docs/reference/errors.md, or INTERNAL for an error without a code. */
  readonly code: ErrorCode;
  /** HTTP status if the platform refused the request. */
  readonly status: number | undefined;
}

/** State of a poller. Times are in ms since 1970 on the bot's clock. */
export interface PollerStatus {
  readonly mode: Mode;
  /** Time of the last mode switch, or of startup. */
  readonly modeSince: number;
  /** Reason for the current mode. */
  readonly modeReason: string;
  /**
   * Stored position in the log. Every event before it is in the inbox. The position stays about a minute behind the
   * present. `undefined` before the first read, while the log is empty, and while the platform refuses the position.
   */
  readonly cursor: string | undefined;
  /** Time when the last read of the log succeeded or failed. */
  readonly lastPollAt: number | undefined;
  /** Error of the last read. `undefined` if it succeeded. */
  readonly lastPollError: PollFailure | undefined;
  /** Time when the last read to reach the log's end began. */
  readonly readToEndAt: number | undefined;
}

/** State of the poller that reads the log. It suffices for another instance to continue. */
export interface Snapshot {
  readonly state: ModeState;
  readonly status: PollerStatus;
}

const age = nullable(number);

/** Newer versions may add fields, which are ignored. An incompatible change gets another format number. */
const snapshotShape = object({
  format: oneOf(1),
  state: object({
    mode: oneOf("auditing", "polling"),
    unconfirmed: arrayOf(object({ id: string, type: string, at: number, foundAt: number })),
    webhookTypes: arrayOf(string),
    lastDelivery: arrayOf(string),
    deliveredAt: nullable(number),
    cleanRounds: number,
  }),
  /** Times are stored as ages, because the instances' clocks differ. Times in `state` are on the platform's clock. */
  status: object({
    modeMsAgo: number,
    modeReason: string,
    cursor: nullable(string),
    lastPollMsAgo: age,
    lastPollError: nullable(object({ code: string, status: nullable(number) })),
    readToEndMsAgo: age,
  }),
});

/** @param now the time on the status's clock */
export function writeSnapshot({ state, status }: Snapshot, now: number): string {
  const ago = (at: number | undefined) => (at === undefined ? null : now - at);
  const { lastPollError: error } = status;
  return JSON.stringify({
    format: 1,
    state: {
      ...state,
      webhookTypes: [...state.webhookTypes],
      lastDelivery: [...state.lastDelivery],
      deliveredAt: state.deliveredAt ?? null,
    },
    status: {
      modeMsAgo: now - status.modeSince,
      modeReason: status.modeReason,
      cursor: status.cursor ?? null,
      lastPollMsAgo: ago(status.lastPollAt),
      lastPollError: error ? { code: error.code, status: error.status ?? null } : null,
      readToEndMsAgo: ago(status.readToEndAt),
    },
  } satisfies ReturnType<typeof snapshotShape.read>);
}

/**
 * Parses a snapshot. Returns `undefined` if another version wrote it in another format.
 *
 * @param at time when the snapshot was written, on the reader's clock
 */
export function readSnapshot(text: string, at: number): Snapshot | undefined {
  const parsed = readShape(snapshotShape, parse(text));
  if (!parsed.ok) return undefined;
  const { state, status } = parsed.value;
  const before = (msAgo: number | null) => (msAgo === null ? undefined : at - msAgo);
  const { lastPollError: error } = status;
  return {
    state: {
      ...state,
      // An earlier version kept own types as well.
      webhookTypes: platformTypes(state.webhookTypes),
      lastDelivery: new Set(state.lastDelivery),
      deliveredAt: state.deliveredAt ?? undefined,
    },
    status: {
      mode: state.mode,
      modeSince: at - status.modeMsAgo,
      modeReason: status.modeReason,
      cursor: status.cursor ?? undefined,
      lastPollAt: before(status.lastPollMsAgo),
      // A newer version's code is unknown here. It is only displayed.
      lastPollError: error
        ? { code: error.code as ErrorCode, status: error.status ?? undefined }
        : undefined,
      readToEndAt: before(status.readToEndMsAgo),
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
