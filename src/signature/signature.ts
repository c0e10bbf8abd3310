import { createHmac, timingSafeEqual } from "node:crypto";
import { type Kind, NUMBER, required, STRING, STRINGS } from "../core/kinds.ts";
import { type OptionTable, readOptions, requireKind } from "../core/option-checks.ts";
import type { ErrorCode } from "../errors.ts";

/**
 * Tolerance between `t` and the receiver's clock in either direction, in seconds (section 5, rule 7 of the platform
 * document).
 */
export const TOLERANCE_SECONDS = 300;

/** Name of the signature header, in lower case as Node reports it. */
export const SIGNATURE_HEADER = "x-service-signature";

/** Verdict on a signature. `status` is the HTTP status that the platform document requires (section 5, rule 7). */
export type Verdict =
  | {
      /** The signature is valid. */
      readonly ok: true;
      /** Time of the signature, in seconds since 1970. */
      readonly timestamp: number;
      /** Index of the matching secret in `secrets`. */
      readonly secretIndex: number;
    }
  | {
      /** The signature is not valid. */
      readonly ok: false;
      /** HTTP status for the sender. */
      readonly status: 400 | 401;
      /** Reason for the refusal. */
      readonly code: Extract<ErrorCode, `SIGNATURE_${string}`>;
      /** Message for the sender. Contains neither a secret nor the expected signature. */
      readonly message: string;
    };

export type RefusedSignature = Extract<Verdict, { readonly ok: false }>;

/** Options for {@link verify}. */
export interface VerifyOptions {
  /**
   * All currently valid secrets, newest first. There may be several during a rotation. The `whsec_` prefix is part of
   * the key.
   */
  readonly secrets: readonly string[];
  /** The receiver's clock, in ms since 1970. */
  readonly now: number;
}

const VERIFY_OPTIONS: OptionTable<VerifyOptions> = {
  secrets: required(STRINGS),
  now: required(NUMBER),
};

const BODY: Kind = {
  expected: "a Uint8Array or a string",
  fits: (value) => typeof value === "string" || value instanceof Uint8Array,
};

const TIMESTAMP: Kind = {
  expected: "seconds since 1970",
  fits: (value) => Number.isFinite(value),
};

/**
 * Returns the value of `X-Service-Signature` (section 5, rule 6 of the platform document):
 * `t=<unix-seconds>,v1=<lowercase-hex>`. `v1` is the HMAC-SHA256 of `<t>.<raw body>`.
 *
 * @param body the bytes exactly as they are sent; a string is encoded as UTF-8
 * @param timestamp seconds since 1970; fractions are truncated
 * @throws {ServiceBotError} INVALID_OPTION
 */
export function sign(body: Uint8Array | string, secret: string, timestamp: number): string {
  requireKind("body", body, BODY);
  requireKind("secret", secret, STRING);
  requireKind("timestamp", timestamp, TIMESTAMP);
  const t = String(Math.floor(timestamp));
  return `t=${t},v1=${mac(t, body, secret).toString("hex")}`;
}

/**
 * Verifies a signature over a body's raw bytes (section 5, rule 7 of the platform document). Compares in constant time
 * and tries every secret. Never throws on malformed input from the sender.
 *
 * @throws {ServiceBotError} INVALID_OPTION if the body or an option has the wrong type
 */
export function verify(
  body: Uint8Array,
  header: string | readonly string[] | undefined,
  options: VerifyOptions,
): Verdict {
  requireKind("body", body, BODY);
  const checked = readOptions(options, VERIFY_OPTIONS);
  const head = readSignature(header, checked.now);
  return head.ok ? verifyBody(body, head, checked) : head;
}

/**
 * Verifies a body against a header parsed earlier. The timestamp is checked again, because it may have become stale
 * while a slow body arrived.
 */
export function verifyBody(
  body: Uint8Array,
  head: SignatureHead,
  { secrets, now }: VerifyOptions,
): Verdict {
  const stale = refuseStale(head.t, now);
  if (stale !== undefined) return stale;
  const secretIndex = findSecret(body, head, secrets);
  if (secretIndex < 0) {
    return refuse(401, "SIGNATURE_MISMATCH", "The signature does not match the body.");
  }
  return { ok: true, timestamp: Number(head.t), secretIndex };
}

/**
 * Parses the header and checks its timestamp before the body arrives (section 5, rule 7 of the platform document).
 *
 * @param now time on the receiver's clock, in ms since 1970
 */
export function readSignature(
  header: string | readonly string[] | undefined,
  now: number,
): SignatureHead | RefusedSignature {
  if (header === undefined) {
    return refuse(400, "SIGNATURE_MISSING", "The X-Service-Signature header is missing.");
  }
  const parsed = typeof header === "string" ? parseHeader(header) : undefined;
  if (parsed === undefined) {
    return refuse(
      400,
      "SIGNATURE_MALFORMED",
      "X-Service-Signature must have the form t=<unix-seconds>,v1=<64 lowercase hex digits>.",
    );
  }
  return refuseStale(parsed.t, now) ?? { ok: true, ...parsed };
}

/** Returns `undefined` for a timestamp within the tolerance. */
function refuseStale(t: string, now: number): RefusedSignature | undefined {
  const age = Math.floor(now / 1000) - Number(t);
  if (Math.abs(age) <= TOLERANCE_SECONDS) return undefined;
  return refuse(
    400,
    "SIGNATURE_STALE",
    `The timestamp is ${Math.abs(age)} s ${age > 0 ? "old" : "in the future"}; ` +
      `the limit is ${TOLERANCE_SECONDS} s. Check the clocks on both sides.`,
  );
}

/** A well-formed signature header with a timestamp within the tolerance, not yet compared with the body. */
export interface SignatureHead {
  readonly ok: true;
  readonly t: string;
  readonly signatures: readonly Buffer[];
}

/** The header as the platform document shows it. Any other header takes the longer way, with the same result. */
const USUAL_HEADER = /^t=(0|[1-9][0-9]{0,14}),v1=([0-9a-f]{64})$/;

/** Maximum length of the header, in characters. A genuine header is much shorter. */
const MAX_HEADER_LENGTH = 1024;

/**
 * Parses one `t` and one or more `v1`. Unknown names are skipped, so that the platform can add schemes. A second `t`,
 * or a `v1` other than 64 lowercase hex digits, makes the header malformed.
 */
function parseHeader(header: string): Omit<SignatureHead, "ok"> | undefined {
  const [, only, v1] = USUAL_HEADER.exec(header) ?? [];
  if (only !== undefined && v1 !== undefined)
    return { t: only, signatures: [Buffer.from(v1, "hex")] };
  if (header.length > MAX_HEADER_LENGTH) return undefined;
  let t: string | undefined;
  const signatures: Buffer[] = [];
  for (const element of header.split(",")) {
    const [, name, value] = /^([a-z][a-z0-9_-]*)=([\x21-\x7e]*)$/.exec(element) ?? [];
    if (name === undefined || value === undefined) return undefined;
    if (name === "t") {
      if (t !== undefined || !/^(0|[1-9][0-9]{0,14})$/.test(value)) return undefined;
      t = value;
    } else if (name === "v1") {
      if (!/^[0-9a-f]{64}$/.test(value)) return undefined;
      signatures.push(Buffer.from(value, "hex"));
    }
  }
  return t === undefined || signatures.length === 0 ? undefined : { t, signatures };
}

/** Returns the index of the first secret that matches a signature, or -1 if none does. */
function findSecret(body: Uint8Array, head: SignatureHead, secrets: readonly string[]): number {
  let found = 0;
  for (const [index, secret] of secrets.entries()) {
    const expected = mac(head.t, body, secret);
    let equal = 0;
    for (const signature of head.signatures) {
      equal |= Number(timingSafeEqual(expected, signature));
    }
    // The loop neither exits early nor branches, because its timing must not reveal which secret or signature matched.
    found += equal * (index + 1) * Number(found === 0);
  }
  return found - 1;
}

function mac(t: string, body: Uint8Array | string, secret: string): Buffer {
  return createHmac("sha256", secret).update(`${t}.`).update(body).digest();
}

function refuse(
  status: 400 | 401,
  code: Extract<ErrorCode, `SIGNATURE_${string}`>,
  message: string,
): RefusedSignature {
  return { ok: false, status, code, message };
}
