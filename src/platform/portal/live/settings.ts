import { effect, type Signal, signal } from "@preact/signals";

/** The bot whose app is looked at, by username; empty for the first one. */
export const bot: Signal<string> = kept("bot", "");

/** The person who speaks. */
export const person: Signal<string> = kept("person", "ada");

export type Theme = "auto" | "light" | "dark";
export const theme: Signal<Theme> = kept<Theme>("theme", "auto");

effect(() => {
  if (theme.value === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme.value;
});

/** A choice that this browser remembers. */
export function kept<T extends string>(name: string, fallback: T): Signal<T> {
  const key = `service-bot-portal-${name}`;
  const value = signal<T>((read(key) as T | null) ?? fallback);
  effect(() => write(key, value.value));
  return value;
}

// A browser may refuse to remember anything: then the choice holds until the page is closed.
function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {}
}
