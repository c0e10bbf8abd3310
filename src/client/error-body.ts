import { platformCodes } from "./errors.ts";

/** What an error body says. */
export interface Said {
  readonly code: string | undefined;
  readonly message: string | undefined;
}

/**
 * Reads an error body. Its shape is not shown (section 7 of the platform document), so the code is looked for
 * where APIs keep it: `{error: {code, message}}`, `{error: "CODE", message}`, `{error: "words"}`, `{code, message}`,
 * `{errors: [{code, message}]}`, and text.
 */
export function saidIn(body: unknown): Said {
  if (typeof body === "string") return inText(body.trim());
  const outer = fields(body);
  const error = text(outer.error);
  const first: unknown = Array.isArray(outer.errors) ? outer.errors[0] : undefined;
  const inner = error === undefined ? fields(outer.error ?? first) : {};
  const words = error === undefined || isCode(error) ? undefined : error;
  return {
    code: codeIn(inner.code) ?? codeIn(error) ?? codeIn(outer.code),
    message: text(inner.message) ?? text(outer.message) ?? words,
  };
}

/** An error as text: a code, or a sentence that may begin with one. A web page says nothing to anybody. */
function inText(body: string): Said {
  if (body.startsWith("<")) return { code: undefined, message: undefined };
  const word = /^[A-Z][A-Z_]+(?=$|[\s:])/.exec(body)?.[0];
  const code = platformCodes.find((known) => known === word);
  return { code, message: body === "" || body === code ? undefined : body };
}

/** True where a body says that it is a failure, and says nothing else. */
export function isFailureAlone(body: unknown): boolean {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return false;
  for (const name in body) if (!ofFailures.has(name)) return false;
  const { ok, success, error } = fields(body);
  if (ok === true || success === true) return false;
  if (ok === false || success === false || text(error) !== undefined) return true;
  const { code, message } = saidIn(body);
  const isKnown = platformCodes.some((known) => known === code);
  return (
    isKnown || (typeof error === "object" && error !== null && (code ?? message) !== undefined)
  );
}

/** What a body has that tells of a failure alone. */
const ofFailures: ReadonlySet<string> = new Set([
  ...["error", "message", "code", "status", "statusCode", "ok", "success"],
  ...["requestId", "request_id"],
]);

/** A code is a word; a sentence in its place is a message. */
export function isCode(value: string): boolean {
  return /^[A-Za-z][\w.:-]{0,63}$/.test(value);
}

function codeIn(value: unknown): string | undefined {
  const found = text(value);
  return found !== undefined && isCode(found) ? found : undefined;
}

/** The fields of an object, as they are: the body may be large, and is not copied. */
export function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

export function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
