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

/** TLS errors. Nothing was sent, because the other side did not prove its identity or speaks no TLS. */
const tlsFailures: ReadonlySet<string> = new Set([
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** Converts an error of `fetch` into one that says whether the request can have arrived. */
export function unreachable(request: string, baseUrl: string, error: unknown): NetworkError {
  const causes = systemErrors(error);
  const code = causes.find(({ code }) => code !== undefined)?.code;
  const sent = causes.length === 0 || !causes.every(isBeforeConnected);
  const isTls = causes.some(({ code = "" }) => tlsFailures.has(code));
  const why = code === "ECONNREFUSED" ? "nothing listens there" : (code ?? deepestMessage(error));
  const hint = isTls
    ? "Its certificate is not trusted, or it does not speak TLS: NODE_EXTRA_CA_CERTS names a file with more authorities."
    : "Is the platform running, and is SERVICE_BASE_URL (baseUrl) right?";
  const what = sent
    ? `the connection to ${baseUrl} broke before the answer came (${why}).`
    : `${baseUrl} cannot be reached (${why}). ${hint}`;
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

/** The error of `fetch` says that it failed, and its cause says why. */
function deepestMessage(error: unknown): string {
  let deepest = error;
  for (
    let depth = 0;
    depth < 5 && deepest instanceof Error && deepest.cause !== undefined;
    depth++
  ) {
    deepest = deepest.cause;
  }
  return messageOf(deepest);
}

interface SystemError {
  readonly code?: string | undefined;
  readonly syscall?: string | undefined;
}

/** A route can also be lost under an established connection; then reading or writing has failed. */
function isBeforeConnected({ code = "", syscall = "connect" }: SystemError): boolean {
  if (tlsFailures.has(code)) return true;
  return neverConnected.has(code) && (syscall === "connect" || syscall === "getaddrinfo");
}

/** `fetch` throws a bare TypeError; its cause has the system's errors, sometimes one for each address. */
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
