import { type ReadonlySignal, signal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import type { TimelineEntry } from "../../types.ts";
import { ControlError } from "../api/request.ts";
import { Reader } from "./reader.ts";
import { onChange } from "./stream.ts";

/** Delay before a read, in ms, because changes come in bursts. */
const SETTLE_MS = 60;

export interface Live<T> {
  readonly data: T | undefined;
  /** The last read's error. `data` keeps its earlier value. */
  readonly error: Error | undefined;
  readonly reload: () => Promise<void>;
}

export interface LiveOptions {
  /** Selects the timeline entries that may change the data. Default: all entries. */
  readonly concerns?: ((entry: TimelineEntry) => boolean) | undefined;
  /** Delay between a change and the read, in ms. Default 60. */
  readonly settleMs?: number | undefined;
}

/** Reads data when the first component uses it, and again after each change. All components share the result. */
export function createLive<T>(
  read: () => Promise<T>,
  { concerns = () => true, settleMs = SETTLE_MS }: LiveOptions = {},
): ReadonlySignal<Live<T>> {
  let stop = () => {};
  const reload = () => reader.reload();
  const live = signal<Live<T>>(
    { data: undefined, error: undefined, reload },
    {
      watched() {
        let timer: ReturnType<typeof setTimeout> | undefined;
        const end = onChange((entries) => {
          if (entries.length > 0 && !entries.some(concerns)) return;
          timer ??= setTimeout(() => {
            timer = undefined;
            void reload();
          }, settleMs);
        });
        stop = () => {
          end();
          clearTimeout(timer);
          reader.cancel();
        };
        void reload();
      },
      unwatched: () => stop(),
    },
  );
  const reader = new Reader(read, ({ data, error }) => {
    const older = isGone(error) ? undefined : live.peek().data;
    live.value = { data: data ?? older, error, reload };
  });
  return live;
}

/**
 * Reads data for one component, and again after each change.
 *
 * @param key a new key discards the data and reads again
 */
export function useLive<T>(
  read: () => Promise<T>,
  { key, concerns, settleMs }: LiveOptions & { readonly key: string },
): Live<T> {
  const latest = useRef({ read, concerns });
  latest.current = { read, concerns };
  const live = useMemo(() => {
    return createLive(() => latest.current.read(), {
      concerns: (entry) => latest.current.concerns?.(entry) ?? true,
      settleMs,
    });
  }, [key]);
  return live.value;
}

function isGone(error: Error | undefined): boolean {
  return error instanceof ControlError && error.status === 404;
}
