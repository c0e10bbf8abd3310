import { STRING } from "../core/kinds.ts";
import type { OptionTable } from "../core/option-checks.ts";

/** A timer that a handler set with `ctx.later`. */
export interface ScheduledTimer {
  /** Name given to `ctx.later`. */
  readonly name: string;
  /** The timer's key, as `ctx.later` returned it. */
  readonly key: string;
  /** Data for the `onTimer` handler. */
  readonly data: unknown;
  /** ISO 8601, UTC. */
  readonly dueAt: string;
  /** Time left, in ms. */
  readonly inMs: number;
}

/** A user in a conversation, or a state key. */
export type StateOf =
  | string
  | {
      /** Name of the user. Default `ada`. */
      readonly from?: string;
    };

export const STATE_OF: OptionTable<Exclude<StateOf, string>> = { from: STRING };

/** The part of `bot.inbox` that reads events, states and timers. */
export interface StoredEffects {
  /** Returns an event. */
  show(id: string): Promise<{ readonly lane: string }>;
  /** Returns the state stored under a key. */
  state(key: string): Promise<{ readonly value: string } | undefined>;
  /** Lists timers, the earliest first. */
  timers(options: { readonly limit: number; readonly after?: string | undefined }): Promise<{
    readonly timers: readonly StoredTimer[];
    readonly next: string | undefined;
  }>;
}

/** A timer as the inbox stores it. */
interface StoredTimer {
  /** Name given to `ctx.later`. */
  readonly name: string;
  /** Distinguishes timers with the same name. */
  readonly key: string;
  /** JSON with the timer's data. */
  readonly body: string;
  /** In ms since 1970. */
  readonly dueAt: number;
}

const PAGE = 1_000;

export async function scheduledTimers(
  inbox: StoredEffects,
  now: number,
): Promise<readonly ScheduledTimer[]> {
  const found: ScheduledTimer[] = [];
  let after: string | undefined;
  do {
    const { timers, next } = await inbox.timers({ limit: PAGE, after });
    for (const { name, key, body, dueAt } of timers) {
      const { data }: { readonly data?: unknown } = JSON.parse(body);
      found.push({ name, key, data, dueAt: new Date(dueAt).toISOString(), inMs: dueAt - now });
    }
    after = next;
  } while (after !== undefined);
  return found;
}
