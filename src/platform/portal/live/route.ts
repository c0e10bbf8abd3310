import { computed, type ReadonlySignal, signal } from "@preact/signals";

/** The page's views, in navigation bar order. */
export const views = ["chat", "events", "state", "webhook", "faults", "settings"] as const;
export type View = (typeof views)[number];

export interface Route {
  readonly view: View;
  /** The open item, for example an event id. Empty if none is open. */
  readonly id: string;
}

const hash = signal(location.hash);
addEventListener("hashchange", () => {
  hash.value = location.hash;
});

/** Current location in the page, such as `#/events/evt_1`. */
export const route: ReadonlySignal<Route> = computed(() => {
  const [, name = "", id = ""] = hash.value.split("/");
  const view = views.find((known) => known === name) ?? "chat";
  return { view, id: decode(id) };
});

export function title(view: View): string {
  return view.slice(0, 1).toUpperCase() + view.slice(1);
}

export function addressOf(view: View, id = ""): string {
  return id === "" ? `#/${view}` : `#/${view}/${encodeURIComponent(id)}`;
}

export function go(view: View, id = ""): void {
  location.hash = addressOf(view, id);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
