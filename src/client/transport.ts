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
  const code = causeCode(error);
  const sent = !neverConnected.has(code ?? "");
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

/** `fetch` throws a bare TypeError; the system's code is in its cause, sometimes in one of several. */
function causeCode(error: unknown): string | undefined {
  for (let at: unknown = error; typeof at === "object" && at !== null; ) {
    if ("code" in at && typeof at.code === "string") return at.code;
    if ("errors" in at && Array.isArray(at.errors)) at = at.errors[0];
    else at = "cause" in at ? at.cause : undefined;
  }
  return undefined;
}
