import { messageOf } from "../errors.ts";
import { NetworkError } from "./errors.ts";

/** System errors after which the request cannot have reached the platform. */
const neverConnected: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** What `fetch` threw, as an error that says whether the request can have arrived. */
export function unreachable(request: string, baseUrl: string, error: unknown): NetworkError {
  const causes = systemErrors(error);
  const code = causes.find(({ code }) => code !== undefined)?.code;
  const sent = causes.length === 0 || !causes.every(isBeforeConnected);
  const why = code === "ECONNREFUSED" ? "nothing listens there" : (code ?? messageOf(error));
  const what = sent
    ? `the connection to ${baseUrl} broke before the answer came (${why}).`
    : `${baseUrl} cannot be reached (${why}). ` +
      "Is the platform running, and is SERVICE_BASE_URL right?";
  return new NetworkError("API_UNREACHABLE", `${request}: ${what}`, { cause: error, sent });
}

export function timedOut(
  request: string,
  baseUrl: string,
  timeoutMs: number,
  cause: unknown,
): NetworkError {
  const what = `no answer from ${baseUrl} within ${timeoutMs} ms.`;
  return new NetworkError("API_TIMEOUT", `${request}: ${what}`, { cause, sent: true });
}

interface SystemError {
  readonly code?: string | undefined;
  readonly syscall?: string | undefined;
}

/** A route can also be lost under an established connection; then reading or writing is what failed. */
function isBeforeConnected({ code = "", syscall = "connect" }: SystemError): boolean {
  return neverConnected.has(code) && (syscall === "connect" || syscall === "getaddrinfo");
}

/** `fetch` throws a bare TypeError; the system's errors are in its cause, sometimes several: one an address. */
function systemErrors(error: unknown): readonly SystemError[] {
  for (let at: unknown = error; typeof at === "object" && at !== null; ) {
    if ("errors" in at && Array.isArray(at.errors) && at.errors.length > 0) {
      return at.errors.flatMap(systemErrors);
    }
    if ("code" in at && typeof at.code === "string") {
      const syscall = "syscall" in at && typeof at.syscall === "string" ? at.syscall : undefined;
      return [{ code: at.code, syscall }];
    }
    at = "cause" in at ? at.cause : undefined;
  }
  return [];
}
