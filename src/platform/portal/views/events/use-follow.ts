import type { RefObject } from "preact";
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { TimelineEntry } from "../../api/shapes.ts";
import { placeOf } from "./lines.ts";

export interface Follow {
  /** Whether the newest entry stays in sight. */
  readonly following: boolean;
  /** To be called when the list was scrolled. */
  readonly scrolled: () => void;
  /** Goes to the end and stays there, or stays where it is. */
  readonly follow: (on: boolean) => void;
}

interface Followed {
  readonly list: RefObject<HTMLElement | null>;
  readonly lines: readonly TimelineEntry[];
  /** The height of a row and of the list, in pixels. */
  readonly size: number;
  readonly height: number;
}

/**
 * Keeps the end of the list in sight while it grows, until one scrolls away. From then on the line at the top stays where it
 * is, whatever comes, is forgotten or is filtered away.
 */
export function useFollow({ list, lines, size, height }: Followed): Follow {
  const [following, setFollowing] = useState(true);
  const place = useRef({ top: 0, seq: 0, offset: 0, following: true });
  const remember = useCallback(
    (element: HTMLElement, on: boolean) => {
      const { scrollTop: top } = element;
      const seq = lines[Math.floor(top / size)]?.seq ?? 0;
      place.current = { top, seq, offset: top % size, following: on };
      setFollowing(on);
    },
    [lines, size],
  );
  const follow = (on: boolean) => {
    if (list.current === null) return;
    if (on) list.current.scrollTop = endOf(list.current);
    remember(list.current, on);
  };
  const scrolled = () => {
    const { current: element } = list;
    if (element !== null) remember(element, endOf(element) - element.scrollTop < size);
  };
  useLayoutEffect(() => {
    const { current: element } = list;
    if (element === null) return;
    const { top, seq, offset } = place.current;
    const end = endOf(element);
    // The event of scrolling comes later than it was scrolled: entries may come in between.
    const scrolledAway = element.scrollTop < Math.min(top, end) - size;
    const on = place.current.following && !scrolledAway;
    if (on) element.scrollTop = end;
    else if (!place.current.following) element.scrollTop = placeOf(lines, seq) * size + offset;
    remember(element, on);
  }, [lines, size, height]);
  return { following, scrolled, follow };
}

function endOf({ scrollHeight, clientHeight }: HTMLElement): number {
  return scrollHeight - clientHeight;
}
