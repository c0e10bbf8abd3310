import { type CertificateFault, certificateFaultOf } from "../core/certificate.ts";
import { causesOf, codeOf, messageOf, tryRead } from "../errors.ts";
import { NetworkError } from "./errors.ts";

/** System errors after which the request definitely never reached the platform. */
const neverConnected: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Returns whether a handshake failed: the server could not prove its identity, or does not support TLS. */
function isTlsFailure(code: string): boolean {
  return (
    code === "ERR_SSL_WRONG_VERSION_NUMBER" ||
    code === "TLS_HANDSHAKE" ||
    certificateFaultOf(code) !== undefined
  );
}

/** Converts an error from a TLS handshake. Drops the cause, because its code could also end a request that was sent. */
export function toHandshakeError(error: Error): Error {
  if (isTlsFailure(codeOf(error))) return error;
  const message = `the TLS handshake failed: ${messageOf(error)}`;
  return Object.assign(new Error(message), { code: "TLS_HANDSHAKE" });
}

/** Converts an error of the transport, and records whether the request may have arrived. */
export function unreachable(request: string, baseUrl: string, error: unknown): NetworkError {
  const causes = systemErrors(error);
  const code = causes.find(({ code }) => code !== undefined)?.code;
  const sent = causes.length === 0 || !causes.every(isBeforeConnected);
  const isTls = causes.some(({ code = "" }) => isTlsFailure(code));
  const why =
    code === "ECONNREFUSED" ? "nothing is listening there" : (code ?? deepestMessage(error));
  const hint = isTls ? tlsHint(code) : "Is the platform running? Check SERVICE_BASE_URL (baseUrl).";
  const what = sent
    ? `the connection to ${baseUrl} closed before a response arrived (${why}).`
    : `cannot reach ${baseUrl} (${why}). ${hint}`;
  return new NetworkError("API_UNREACHABLE", `${request}: ${what}`, { cause: error, sent });
}

const UNTRUSTED =
  "The server's certificate is not trusted. Add a private CA with NODE_EXTRA_CA_CERTS in the environment.";

const certificateHints: Readonly<Record<CertificateFault, string>> = {
  expired: "The server's certificate has expired, or this machine's clock is wrong.",
  early: "The server's certificate is not valid yet, or this machine's clock is wrong.",
  name: "The server's certificate is for another name. Check SERVICE_BASE_URL (baseUrl).",
  "self-signed": UNTRUSTED,
  issuer: UNTRUSTED,
};

function tlsHint(code = ""): string {
  const fault = certificateFaultOf(code);
  if (fault !== undefined) return certificateHints[fault];
  return "The server's certificate is not trusted, or the server does not support TLS. Add a private CA with NODE_EXTRA_CA_CERTS.";
}

export function timedOut(
  request: string,
  baseUrl: string,
  timeoutMs: number,
  cause: unknown,
): NetworkError {
  const what = `no response from ${baseUrl} within ${timeoutMs} ms.`;
  return new NetworkError("API_TIMEOUT", `${request}: ${what}`, { cause, sent: true });
}

/** Returns the message of the innermost cause, because an error thrown by `fetch` contains no reason itself. */
function deepestMessage(error: unknown): string {
  const chain = causesOf(error);
  const innermost = chain.at(-1);
  return messageOf(tryRead(() => innermost?.cause) ?? innermost ?? error);
}

/** Maximum number of errors to read, because an error may contain itself. */
const MAX_SYSTEM_ERRORS = 100;

interface SystemError {
  readonly code?: string | undefined;
  readonly syscall?: string | undefined;
}

/**
 * Returns whether an error happened before the connection was made. These codes can also end an established connection,
 * but then the failed call is a read or a write.
 */
function isBeforeConnected({ code = "", syscall = "connect" }: SystemError): boolean {
  if (isTlsFailure(code)) return true;
  return neverConnected.has(code) && (syscall === "connect" || syscall === "getaddrinfo");
}

/**
 * Returns the system errors behind an error. `fetch` throws a generic TypeError. There may be one error per IP address.
 */
function systemErrors(error: unknown, seen: Set<unknown> = new Set()): readonly SystemError[] {
  if (typeof error !== "object" || error === null) return [];
  if (seen.has(error) || seen.size >= MAX_SYSTEM_ERRORS) return [];
  seen.add(error);
  const { errors, code, syscall, cause } = tryRead(() => fieldsOf(error)) ?? {};
  if (Array.isArray(errors) && errors.length > 0) {
    return errors.flatMap((one: unknown) => systemErrors(one, seen));
  }
  if (typeof code !== "string") return systemErrors(cause, seen);
  return [{ code, syscall: typeof syscall === "string" ? syscall : undefined }];
}

interface ErrorFields {
  readonly errors?: unknown;
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly cause?: unknown;
}

/** Reads fields that may be inherited. */
function fieldsOf({ errors, code, syscall, cause }: ErrorFields): ErrorFields {
  return { errors, code, syscall, cause };
}
