import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

export interface Key {
  /** Value of `KeyboardEvent.key`: "d", "?", "Escape". */
  readonly key: string;
  readonly label: string;
  readonly run: () => void;
  readonly group: string;
}

const registered = signal<readonly (readonly Key[])[]>([]);

/** Active shortcuts. If several have the same key, the last one wins. */
export const keys: ReadonlySignal<readonly Key[]> = computed(() => {
  // A view's shortcuts override the page's, in either order of registration.
  const all = registered.value.flat();
  const ordered = [...all.filter(isOfPage), ...all.filter((each) => !isOfPage(each))];
  const byKey = new Map(ordered.map((each) => [each.key, each]));
  return [...byKey.values()];
});

function isOfPage({ group }: Key): boolean {
  return group === "Views" || group === "Do";
}

export function useKeys(mine: readonly Key[]): void {
  const current = useRef(mine);
  current.current = mine;
  const names = mine.map(({ key, label }) => `${key} ${label}`).join("\n");
  // Compare shortcuts by name and look the functions up later, because each render creates new functions. A layout
  // effect registers the keys before the user can see and press them.
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

export function listenToKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.repeat || event.ctrlKey || event.metaKey || event.altKey)
      return;
    if (isTyping(event.target)) {
      // Escape leaves the text field, so that the shortcuts work again.
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
