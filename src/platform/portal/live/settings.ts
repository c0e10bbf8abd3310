import { effect, type Signal, signal } from "@preact/signals";

/** Username of the selected bot. Empty for the first bot. */
export const bot: Signal<string> = createSetting("bot", "");

export const person: Signal<string> = createSetting("person", "ada");

export type Theme = "auto" | "light" | "dark";
export const theme: Signal<Theme> = createSetting<Theme>("theme", "auto");

effect(() => {
  if (theme.value === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme.value;
});

export function createSetting<T extends string>(name: string, fallback: T): Signal<T> {
  const key = `service-bot-portal-${name}`;
  const value = signal<T>((read(key) as T | null) ?? fallback);
  effect(() => write(key, value.value));
  return value;
}

// If the browser blocks storage, the setting lasts until the page closes.
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
