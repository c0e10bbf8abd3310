import { signal } from "@preact/signals";

const KEY = "service-bot-control-token";

/**
 * Control token of this run of the platform. It comes from the URL that the platform printed and is stored for later
 * tabs. Not a cookie, because the browser would send the cookie to every port of this machine. Local storage belongs to
 * a single port.
 */
const current = signal(fromAddress() ?? localStorage.getItem(KEY) ?? "");

/** True if there is no token or the platform refuses it. */
export const isTokenRefused = signal(current.value === "");

// The same tab does not reload when the user opens a URL with a new token.
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

/** Stores a token that the user typed in, for other tabs too. */
export function saveToken(text: string): void {
  current.value = text;
  localStorage.setItem(KEY, text);
}

function fromAddress(): string | undefined {
  const found = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (found === undefined) return undefined;
  localStorage.setItem(KEY, found);
  // Removed from the address bar, so that the user does not copy the token with the URL.
  history.replaceState(null, "", location.pathname);
  return found;
}
