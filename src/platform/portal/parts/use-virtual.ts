import {
  defaultRangeExtractor,
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type Range,
  Virtualizer,
} from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useLayoutEffect, useReducer, useState } from "preact/hooks";

export interface VirtualList {
  readonly element: RefObject<HTMLElement | null>;
  readonly count: number;
  /** The height of each row, in pixels. */
  readonly size: number;
  /** A row that is kept though it is out of sight. */
  readonly keep?: number | undefined;
}

export type Virtual = Virtualizer<HTMLElement, HTMLElement>;

/** Of a long list, the rows that are in sight, and some around them. */
export function useVirtual({ element, count, size, keep }: VirtualList): Virtual {
  const [, render] = useReducer((turn: number) => turn + 1, 0);
  const options = {
    count,
    overscan: 8,
    estimateSize: () => size,
    getScrollElement: () => element.current,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    rangeExtractor: (range: Range) => withKept(defaultRangeExtractor(range), keep, count),
    onChange: () => render(0),
  };
  const [virtual] = useState<Virtual>(() => new Virtualizer(options));
  virtual.setOptions(options);
  useLayoutEffect(() => virtual._didMount(), [virtual]);
  useLayoutEffect(() => virtual._willUpdate());
  useLayoutEffect(() => virtual.measure(), [virtual, size]);
  return virtual;
}

function withKept(rows: number[], keep: number | undefined, count: number): number[] {
  if (keep === undefined || keep >= count || rows.includes(keep)) return rows;
  return [...rows, keep].sort((a, b) => a - b);
}
