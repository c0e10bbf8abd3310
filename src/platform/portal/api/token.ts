import { signal } from "@preact/signals";

const KEY = "service-bot-control-token";

/**
 * The control token of the platform's current run. It comes from the URL that the platform printed, and is stored in
 * local storage for later tabs. A cookie would be sent to every port on this machine, but local storage belongs to one
 * port.
 */
const current = signal(fromAddress() ?? localStorage.getItem(KEY) ?? "");

export const isTokenRefused = signal(current.value === "");

// Opening a URL with a new token in the same tab does not reload the page.
addEventListener("hashchange", () => {
  const given = fromAddress();
  if (given !== undefined) current.value = given;
});

// Another tab has stored the token of a newer run.
addEventListener("storage", ({ key, newValue }) => {
  if (key === KEY && newValue !== null) current.value = newValue;
});

export function token(): string {
  return current.value;
}

/** Stores a token that the user has entered, so that other tabs use it too. */
export function saveToken(text: string): void {
  current.value = text;
  localStorage.setItem(KEY, text);
}

function fromAddress(): string | undefined {
  const found = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (found === undefined) return undefined;
  localStorage.setItem(KEY, found);
  // Remove the token from the address bar, so that the user does not copy it with the URL.
  history.replaceState(null, "", location.pathname);
  return found;
}
