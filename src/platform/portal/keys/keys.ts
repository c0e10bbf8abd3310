import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

/** A key and what it does. */
export interface Key {
  /** As in `KeyboardEvent.key`: "d", "?", "Escape". */
  readonly key: string;
  readonly label: string;
  readonly run: () => void;
  /** Heading in the list of keys. */
  readonly group: string;
}

const registered = signal<readonly (readonly Key[])[]>([]);

/** The keys that do something now; of the same key the one that came last. */
export const keys: ReadonlySignal<readonly Key[]> = computed(() => {
  // Keys of a view win over keys of the whole page, in either order of registration.
  const all = registered.value.flat();
  const ordered = [...all.filter(isOfPage), ...all.filter((each) => !isOfPage(each))];
  const byKey = new Map(ordered.map((each) => [each.key, each]));
  return [...byKey.values()];
});

function isOfPage({ group }: Key): boolean {
  return group === "Views" || group === "Do";
}

/** Registers keys while the component is mounted. */
export function useKeys(mine: readonly Key[]): void {
  const current = useRef(mine);
  current.current = mine;
  const names = mine.map(({ key, label }) => `${key} ${label}`).join("\n");
  // Keys are compared by name, and their functions are looked up when pressed: functions are new with each render.
  // A layout effect, because a key may be pressed as soon as it is shown.
  useLayoutEffect(() => {
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
    if (event.defaultPrevented || event.repeat || event.ctrlKey || event.metaKey || event.altKey)
      return;
    if (isTyping(event.target)) {
      // Escape leaves the field, and the keys work again.
      if (event.key === "Escape") (event.target as HTMLElement).blur();
      return;
    }
    // A dialog has its own keys.
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
