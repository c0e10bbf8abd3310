import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { TimelineEntry } from "../../types.ts";
import { ControlError } from "../api/request.ts";
import { Reader } from "./reader.ts";
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
  const reader = useMemo(() => {
    return new Reader<T>(
      () => latest.current.read(),
      (next) =>
        setState((last) => {
          const stays = last.key === key && !isGone(next.error);
          return { ...(stays ? last : {}), ...next, key };
        }),
    );
  }, [key]);
  const current = useRef(reader);
  current.current = reader;
  const reload = useCallback(() => current.current.reload(), []);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    void reader.reload();
    const end = onChange(({ all, entries }) => {
      const { concerns: mine } = latest.current;
      if (!all && entries.length > 0 && mine !== undefined && !entries.some(mine)) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        void reader.reload();
      }, settleMs);
    });
    return () => {
      end();
      clearTimeout(timer);
      // The outcome belongs to what was shown before the key changed.
      reader.cancel();
    };
  }, [reader, settleMs]);
  const shown = state.key === key ? state : undefined;
  return { data: shown?.data, error: shown?.error, reload };
}

/** What was read before is not there any more, as after a reset. */
function isGone(error: Error | undefined): boolean {
  return error instanceof ControlError && error.status === 404;
}
