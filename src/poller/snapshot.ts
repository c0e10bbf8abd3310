import * as z from "../core/zod.ts";
import type { ModeState } from "./mode.ts";
import type { PollerStatus } from "./record.ts";

/** State of the poller that reads the log: enough for another one to go on. */
export interface Snapshot {
  readonly state: ModeState;
  readonly status: PollerStatus;
}

const age = z.number().nullable();
const found = z.object({ id: z.string(), type: z.string(), at: z.number(), foundAt: z.number() });

/** Fields that a newer version adds are ignored; a changed field gets another format number. */
const written = z.object({
  format: z.literal(1),
  state: z.object({
    mode: z.enum(["auditing", "polling"]),
    unconfirmed: z.array(found).readonly(),
    webhookTypes: z.array(z.string()),
    lastDelivery: z.array(z.string()),
    deliveredAt: z.number().nullable(),
    cleanRounds: z.number(),
  }),
  /** Times as ages, because the clocks of two instances differ. */
  status: z.object({
    modeMsAgo: z.number(),
    modeReason: z.string(),
    cursor: z.string().nullable(),
    lastPollMsAgo: age,
    lastPollError: z.object({ code: z.string(), status: z.number().nullable() }).nullable(),
    readToEndMsAgo: age,
  }),
});

/** @param now on the clock of the status */
export function writeSnapshot({ state, status }: Snapshot, now: number): string {
  const ago = (at: number | undefined) => (at === undefined ? null : now - at);
  const { lastPollError: error } = status;
  return JSON.stringify({
    format: 1,
    state: {
      mode: state.mode,
      unconfirmed: state.unconfirmed,
      webhookTypes: [...state.webhookTypes],
      lastDelivery: [...state.lastDelivery],
      deliveredAt: state.deliveredAt ?? null,
      cleanRounds: state.cleanRounds,
    },
    status: {
      modeMsAgo: now - status.modeSince,
      modeReason: status.modeReason,
      cursor: status.cursor ?? null,
      lastPollMsAgo: ago(status.lastPollAt),
      lastPollError:
        error === undefined ? null : { code: error.code, status: error.status ?? null },
      readToEndMsAgo: ago(status.readToEndAt),
    },
  } satisfies z.input<typeof written>);
}

/**
 * Reads a snapshot; undefined if another version has written it in another format.
 *
 * @param at when it was written, on the reader's clock
 */
export function readSnapshot(text: string, at: number): Snapshot | undefined {
  const parsed = written.safeParse(parse(text));
  if (!parsed.success) return undefined;
  const { state, status } = parsed.data;
  const when = (msAgo: number | null) => (msAgo === null ? undefined : at - msAgo);
  const { lastPollError: error } = status;
  return {
    state: {
      ...state,
      webhookTypes: new Set(state.webhookTypes),
      lastDelivery: new Set(state.lastDelivery),
      deliveredAt: state.deliveredAt ?? undefined,
    },
    status: {
      mode: state.mode,
      modeSince: at - status.modeMsAgo,
      modeReason: status.modeReason,
      cursor: status.cursor ?? undefined,
      lastPollAt: when(status.lastPollMsAgo),
      lastPollError: error === null ? undefined : failure(error),
      readToEndAt: when(status.readToEndMsAgo),
    },
  };
}

function failure(error: { code: string; status: number | null }): PollerStatus["lastPollError"] {
  // Codes are shown as text, even one of a newer version.
  return {
    code: error.code as NonNullable<PollerStatus["lastPollError"]>["code"],
    status: error.status ?? undefined,
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
