import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

/** A key and what it does. */
export interface Key {
  /** As in `KeyboardEvent.key`: "d", "?", "Escape". */
  readonly key: string;
  readonly label: string;
  readonly run: () => void;
  /** Where it stands in the list of keys. */
  readonly group: string;
}

const registered = signal<readonly (readonly Key[])[]>([]);

/** The keys that do something now; of the same key the one that came last. */
export const keys: ReadonlySignal<readonly Key[]> = computed(() => {
  const byKey = new Map(registered.value.flat().map((each) => [each.key, each]));
  return [...byKey.values()];
});

/** These keys do something while the component is there. */
export function useKeys(mine: readonly Key[]): void {
  const current = useRef(mine);
  current.current = mine;
  const names = mine.map(({ key, label }) => `${key} ${label}`).join("\n");
  // What they are called says whether they are others; what they do is looked up late.
  useEffect(() => {
    const own = current.current.map((each) => ({
      ...each,
      run: () => current.current.find(({ key }) => key === each.key)?.run(),
    }));
    registered.value = [...registered.peek(), own];
    return () => {
      registered.value = registered.peek().filter((each) => each !== own);
    };
  }, [names]);
}

/** Listens for keys as long as the page is open. */
export function listenToKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target)) {
      // The way out of a field, so that the keys are at hand again.
      if (event.key === "Escape") (event.target as HTMLElement).blur();
      return;
    }
    // What a dialog offers has its own keys.
    if (document.querySelector("dialog[open]") !== null) return;
    const found = keys.value.find(({ key }) => key === event.key);
    if (found === undefined) return;
    event.preventDefault();
    found.run();
  });
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.matches("textarea, select")) return true;
  return target.matches("input:not([type=checkbox], [type=radio], [type=button], [type=submit])");
}
