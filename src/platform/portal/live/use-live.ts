import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ControlError } from "../api/request.ts";
import type { TimelineEntry } from "../api/shapes.ts";
import { onChange } from "./stream.ts";

/** Changes come in bursts: they are waited for so long, in milliseconds. */
const SETTLE_MS = 60;

export interface Live<T> {
  /** Undefined until it was read for the first time. */
  readonly data: T | undefined;
  /** Why the last reading failed; what was read before stays. */
  readonly error: Error | undefined;
  readonly reload: () => Promise<void>;
}

export interface LiveOptions {
  /** What the reading depends on: another value reads anew, and forgets what was read before. */
  readonly key: string;
  /** Which entries of the timeline may change it. Default: every one. */
  readonly concerns?: (entry: TimelineEntry) => boolean;
  /** Wait between a change and the reading, in ms. Default 60. */
  readonly settleMs?: number;
}

/** Reads something, and reads it again whenever it may have changed. */
export function useLive<T>(
  read: () => Promise<T>,
  { key, concerns, settleMs = SETTLE_MS }: LiveOptions,
): Live<T> {
  const [state, setState] = useState<{ key: string; data?: T; error?: Error | undefined }>({ key });
  const latest = useRef({ read, concerns });
  latest.current = { read, concerns };
  const flight = useRef<Flight | undefined>(undefined);
  const reload = useCallback((): Promise<void> => {
    const before = flight.current;
    if (before !== undefined) {
      // One reading at a time: under steady change each would be overtaken by the next, and nothing be shown.
      before.again = true;
      return before.done;
    }
    const mine: Flight = { again: false, done: Promise.resolve() };
    flight.current = mine;
    const readOn = async () => {
      do {
        mine.again = false;
        const next = await outcomeOf(latest.current.read);
        // What was asked for before the key changed belongs to what was shown then.
        if (flight.current !== mine) return;
        setState((last) => {
          const stays = last.key === key && !isGone(next.error);
          return { ...(stays ? last : {}), ...next, key };
        });
      } while (mine.again);
      flight.current = undefined;
    };
    mine.done = readOn();
    return mine.done;
  }, [key]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    void reload();
    const end = onChange(({ all, entries }) => {
      const { concerns: mine } = latest.current;
      if (!all && entries.length > 0 && mine !== undefined && !entries.some(mine)) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        void reload();
      }, settleMs);
    });
    return () => {
      end();
      clearTimeout(timer);
      flight.current = undefined;
    };
  }, [reload, settleMs]);
  const current = state.key === key ? state : undefined;
  return { data: current?.data, error: current?.error, reload };
}

/** A reading that is under way. */
interface Flight {
  /** Something changed meanwhile, so it is read once more. */
  again: boolean;
  done: Promise<void>;
}

async function outcomeOf<T>(
  read: () => Promise<T>,
): Promise<{ data?: T; error: Error | undefined }> {
  try {
    return { data: await read(), error: undefined };
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }
}

/** What was read before is not there any more, as after a reset. */
function isGone(error: Error | undefined): boolean {
  return error instanceof ControlError && error.status === 404;
}
