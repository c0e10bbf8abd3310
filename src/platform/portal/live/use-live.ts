import { useCallback, useEffect, useRef, useState } from "preact/hooks";
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
}

/** Reads something, and reads it again whenever it may have changed. */
export function useLive<T>(read: () => Promise<T>, { key, concerns }: LiveOptions): Live<T> {
  const [state, setState] = useState<{ key: string; data?: T; error?: Error }>({ key });
  const latest = useRef({ read, concerns, turn: 0 });
  latest.current = { read, concerns, turn: latest.current.turn };
  const reload = useCallback(async () => {
    latest.current.turn += 1;
    const { turn } = latest.current;
    try {
      const data = await latest.current.read();
      // An answer that was overtaken by a later question is old.
      if (turn === latest.current.turn) setState({ key, data });
    } catch (error) {
      if (turn !== latest.current.turn) return;
      setState((before) => ({ ...before, key, error: error as Error }));
    }
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
      }, SETTLE_MS);
    });
    return () => {
      end();
      clearTimeout(timer);
      // What is still on its way belongs to what was shown before.
      latest.current.turn += 1;
    };
  }, [reload]);
  const current = state.key === key ? state : { key };
  return { data: current.data, error: current.error, reload };
}
