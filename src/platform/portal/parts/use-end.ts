import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** Distance in CSS pixels that still counts as the end. */
const END_TOLERANCE = 32;

export interface End {
  /** True while newer items are out of sight. */
  readonly unseen: boolean;
  readonly toEnd: () => void;
  readonly onScroll: () => void;
}

export interface EndOptions {
  /** Holds the items, each with its id as `data-item`. */
  readonly log: RefObject<HTMLElement | null>;
  /** True while its end is in sight. */
  readonly atEnd: RefObject<boolean>;
  /** The id of the newest item. */
  readonly newest: string | undefined;
  /** Changes with the items. */
  readonly shown: unknown;
}

/** Keeps the end of a log in sight. After the reader has scrolled away, the item at the top stays at its place. */
export function useEnd({ log, atEnd, newest, shown }: EndOptions): End {
  const [unseen, setUnseen] = useState(false);
  const seen = useRef(newest);
  const looked = useRef({ id: "", top: 0 });
  const toEnd = () => {
    atEnd.current = true;
    setUnseen(false);
    if (log.current !== null) log.current.scrollTop = log.current.scrollHeight;
  };
  const onScroll = () => {
    if (log.current === null) return;
    const { scrollHeight, scrollTop, clientHeight } = log.current;
    atEnd.current = scrollHeight - scrollTop - clientHeight < END_TOLERANCE;
    if (atEnd.current) setUnseen(false);
    looked.current = firstInSight(log.current);
  };
  useLayoutEffect(() => {
    const isNew = newest !== seen.current;
    seen.current = newest;
    if (atEnd.current === true) return toEnd();
    if (isNew) setUnseen(true);
    if (log.current !== null) putBack(log.current, looked.current);
  }, [shown]);
  useEffect(() => {
    if (log.current === null) return;
    const observer = new ResizeObserver(() => {
      if (atEnd.current === true && log.current !== null) {
        log.current.scrollTop = log.current.scrollHeight;
      }
    });
    observer.observe(log.current);
    return () => observer.disconnect();
  }, [log, atEnd]);
  return { unseen, toEnd, onScroll };
}

function firstInSight(log: HTMLElement): { id: string; top: number } {
  const { top } = log.getBoundingClientRect();
  for (const item of log.querySelectorAll<HTMLElement>("[data-item]")) {
    const box = item.getBoundingClientRect();
    if (box.bottom > top) return { id: item.dataset["item"] ?? "", top: box.top - top };
  }
  return { id: "", top: 0 };
}

function putBack(log: HTMLElement, { id, top }: { id: string; top: number }): void {
  const item = log.querySelector(`[data-item="${CSS.escape(id)}"]`);
  if (item === null) return;
  const now = item.getBoundingClientRect().top - log.getBoundingClientRect().top;
  log.scrollTop += now - top;
}
