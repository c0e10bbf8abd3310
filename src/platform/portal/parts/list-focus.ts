import { useLayoutEffect, useRef } from "preact/hooks";

/**
 * Keeps the focus near a list from which something is removed: where it was in what is gone, it goes to the
 * element of this ref, such as the heading (which needs `tabIndex={-1}`).
 *
 * @param count how many there are now
 */
export function useListFocus<T extends HTMLElement>(count: number) {
  const near = useRef<T>(null);
  const before = useRef(count);
  useLayoutEffect(() => {
    const fewer = count < before.current;
    before.current = count;
    const { activeElement } = document;
    if (fewer && (activeElement === null || activeElement === document.body)) near.current?.focus();
  }, [count]);
  return near;
}
