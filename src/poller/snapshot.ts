import * as z from "../core/zod.ts";
import type { ErrorCode } from "../errors.ts";
import type { Mode, ModeState } from "./mode.ts";

/** Why the log could not be read. Codes alone, because messages of a platform may quote anything. */
export interface PollFailure {
  /** One of docs/errors.md; INTERNAL for an error without a code. */
  readonly code: ErrorCode;
  /** The platform's HTTP status if it refused the request. */
  readonly status: number | undefined;
}

/** State of a poller. Times are milliseconds since 1970 on the bot's clock. */
export interface PollerStatus {
  readonly mode: Mode;
  /** Time of the last switch, or of the start. */
  readonly modeSince: number;
  /** Reason of the last switch; before the first one, of the mode at the start. */
  readonly modeReason: string;
  /**
   * Stored position in the log. No event before it is missing from the inbox. It stays about a minute behind the present.
   * `undefined` before the first read, while the log is empty, and while the platform refuses it.
   */
  readonly cursor: string | undefined;
  /** When the last read of the log ended or failed. */
  readonly lastPollAt: number | undefined;
  /** Why the last read failed; `undefined` if it succeeded. */
  readonly lastPollError: PollFailure | undefined;
  /** When the last read began that reached the end of the log. */
  readonly readToEndAt: number | undefined;
}

/** State of the poller that reads the log: enough for another instance to go on. */
export interface Snapshot {
  readonly state: ModeState;
  readonly status: PollerStatus;
}

/** Fields that a newer version adds are ignored; a changed field gets another format number. Undefined fields are absent. */
const written = z.object({
  format: z.literal(2),
  /** The writer's clock. Times of the status are on it, because the clocks of two instances differ. */
  now: z.number(),
  state: z.object({
    mode: z.enum(["auditing", "polling"]),
    unconfirmed: z
      .array(z.object({ id: z.string(), type: z.string(), at: z.number(), foundAt: z.number() }))
      .readonly(),
    webhookTypes: z.array(z.string()),
    lastDelivery: z.array(z.string()),
    deliveredAt: z.number().optional(),
    cleanRounds: z.number(),
  }),
  status: z.object({
    modeSince: z.number(),
    modeReason: z.string(),
    cursor: z.string().optional(),
    lastPollAt: z.number().optional(),
    lastPollError: z.object({ code: z.string(), status: z.number().optional() }).optional(),
    readToEndAt: z.number().optional(),
  }),
});

/** @param now on the clock of the status */
export function writeSnapshot({ state, status }: Snapshot, now: number): string {
  const { webhookTypes, lastDelivery } = state;
  const sets = { webhookTypes: [...webhookTypes], lastDelivery: [...lastDelivery] };
  const snapshot = { format: 2, now, state: { ...state, ...sets }, status } as const;
  return JSON.stringify(snapshot satisfies z.input<typeof written>);
}

/**
 * Reads a snapshot; `undefined` if another version wrote it in another format.
 *
 * @param at when it was written, on the reader's clock
 */
export function readSnapshot(text: string, at: number): Snapshot | undefined {
  const parsed = written.safeParse(parse(text));
  if (!parsed.success) return undefined;
  const { now, state, status } = parsed.data;
  const shift = (time: number | undefined) => (time === undefined ? undefined : time - now + at);
  const { cursor, lastPollError: error } = status;
  return {
    state: {
      ...state,
      webhookTypes: new Set(state.webhookTypes),
      lastDelivery: new Set(state.lastDelivery),
      // On the platform's clock, as all times of the state.
      deliveredAt: state.deliveredAt,
    },
    status: {
      mode: state.mode,
      modeSince: status.modeSince - now + at,
      modeReason: status.modeReason,
      cursor,
      lastPollAt: shift(status.lastPollAt),
      // Codes are shown as text, even one of a newer version.
      lastPollError: error && { code: error.code as ErrorCode, status: error.status },
      readToEndAt: shift(status.readToEndAt),
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
