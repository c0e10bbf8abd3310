import { signal } from "@preact/signals";

const KEY = "service-bot-control-token";

/**
 * The control token of this run of the platform. It comes with the address that the platform has printed, and stays in
 * this browser for later tabs. A cookie would go to every port of this machine; this storage belongs to one port.
 */
const current = signal(fromAddress() ?? localStorage.getItem(KEY) ?? "");

/** True if there is no token, or the platform refuses it. */
export const isTokenRefused = signal(current.value === "");

// An address with a token that is opened in the same tab loads nothing anew.
addEventListener("hashchange", () => {
  const given = fromAddress();
  if (given !== undefined) current.value = given;
});

// Another tab has the token of a newer run.
addEventListener("storage", ({ key, newValue }) => {
  if (key === KEY && newValue !== null) current.value = newValue;
});

export function token(): string {
  return current.value;
}

/** Stores a token that was typed in, for other tabs too. */
export function saveToken(text: string): void {
  current.value = text;
  localStorage.setItem(KEY, text);
}

function fromAddress(): string | undefined {
  const found = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (found === undefined) return undefined;
  localStorage.setItem(KEY, found);
  // It must not stay in the address bar, where it is copied with the rest.
  history.replaceState(null, "", location.pathname);
  return found;
}
