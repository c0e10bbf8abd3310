import { isLoopback } from "./loopback.ts";

/**
 * Describes a problem of the platform's address, as the end of a sentence that begins with its name; `undefined` if valid.
 * The address may have a path, because a platform may share its host. It never repeats a password that is in it.
 */
export function addressProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return "must be an http(s) address such as https://platform.example";
  }
  if (url.username !== "" || url.password !== "") return "must not hold a user or a password";
  if (/[?#]/.test(text)) return "must have neither a query nor a fragment";
  if (/\/api\/v\d+$/.test(withoutSlash(url.pathname))) {
    return "must end before /api/v1, which is added to it: leave that out";
  }
  return undefined;
}

/** The platform's address in one form, whether it was given with a slash at its end or without. */
export function normalizeAddress(text: string): string {
  const { origin, pathname } = new URL(text);
  return `${origin}${withoutSlash(pathname)}`;
}

function withoutSlash(path: string): string {
  return path.replace(/\/+$/, "");
}

/** The same of a bearer token; it is never repeated. A variable that is not set would else go out as "undefined". */
export function tokenProblem(text: string): string | undefined {
  return typeof text === "string" && /^[\x21-\x7e]+$/.test(text)
    ? undefined
    : "must be one word of visible characters, as an HTTP header needs it";
}

/**
 * Whether a token sent to `origin` crosses a network unencrypted: plain http to any other machine. A private network,
 * such as that of Compose, is one too.
 */
export function isSentInClear(origin: string): boolean {
  const url = URL.parse(origin);
  return url?.protocol === "http:" && !isLoopback(url.hostname);
}
