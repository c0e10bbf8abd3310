import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** So near to the end, in CSS pixels, is at the end. */
const NEAR = 32;

export interface End {
  /** True when something came that is not in sight. */
  readonly unseen: boolean;
  readonly toEnd: () => void;
  readonly onScroll: () => void;
}

export interface EndOptions {
  readonly log: RefObject<HTMLElement | null>;
  /** Whether its end is in sight. */
  readonly atEnd: RefObject<boolean>;
  /** The id of the newest message. */
  readonly newest: string | undefined;
  /** Changes with what is shown. */
  readonly shown: unknown;
}

/** Keeps the end of a log in sight, or else what the reader looks at where it is. */
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
    atEnd.current = scrollHeight - scrollTop - clientHeight < NEAR;
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
  for (const message of log.querySelectorAll<HTMLElement>("[data-message]")) {
    const box = message.getBoundingClientRect();
    if (box.bottom > top) return { id: message.dataset["message"] ?? "", top: box.top - top };
  }
  return { id: "", top: 0 };
}

function putBack(log: HTMLElement, { id, top }: { id: string; top: number }): void {
  const message = log.querySelector(`[data-message="${CSS.escape(id)}"]`);
  if (message === null) return;
  const now = message.getBoundingClientRect().top - log.getBoundingClientRect().top;
  log.scrollTop += now - top;
}
