import { sign, TOLERANCE_SECONDS, type VerifyOptions, verify } from "./signature.ts";

/**
 * Marks of the doctor's forged requests. A bot does not count a marked request as a refused delivery. Only a holder of
 * the webhook's secret can make a mark, and a bot accepts each mark once, so a copied mark hides no forged delivery.
 */

/** Header with the mark. Its value has the form of `X-Service-Signature`. */
export const PROBE_HEADER = "x-service-bot-probe";

/** Maximum number of secrets that sign a mark. More would exceed the header's maximum length. */
const MAX_SECRETS = 8;

/** Time in ms after which no mark made before is valid, even if its clock was as far ahead as permitted. */
const VALID_MS = 2 * TOLERANCE_SECONDS * 1000;

/**
 * Returns the mark of a request. It is signed with every secret, because during a rotation the bot may know only one.
 *
 * @param signature the request's `X-Service-Signature`
 * @param timestamp seconds since 1970
 */
export function markProbe(
  signature: string,
  secrets: readonly string[],
  timestamp: number,
): string | undefined {
  const signed = secrets
    .slice(0, MAX_SECRETS)
    .map((secret) => sign(markedText(signature), secret, timestamp));
  const [first, ...others] = signed;
  return first && [first, ...others.map((one) => one.slice(one.indexOf(",") + 1))].join(",");
}

/** Recognizes the doctor's requests. */
export class ProbeMarks {
  /** Times of the accepted marks, by the signature of their request. */
  readonly #accepted = new Map<string, number>();

  /** Returns whether a mark is valid for a request with this signature, and was not accepted before. */
  accept(
    mark: string | readonly string[] | undefined,
    signature: string | readonly string[] | undefined,
    options: VerifyOptions,
  ): boolean {
    if (mark === undefined || typeof signature !== "string") return false;
    if (!verify(Buffer.from(markedText(signature)), mark, options).ok) return false;
    for (const [known, at] of this.#accepted) {
      if (Math.abs(options.now - at) > VALID_MS) this.#accepted.delete(known);
    }
    if (this.#accepted.has(signature)) return false;
    this.#accepted.set(signature, options.now);
    return true;
  }
}

/** Returns the text that a mark signs. It is not JSON, so no mark is valid for a delivery, and the reverse. */
function markedText(signature: string): string {
  return `service-bot probe ${signature}`;
}
