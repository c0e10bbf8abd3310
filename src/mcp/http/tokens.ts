import { createHmac, randomBytes } from "node:crypto";
import type { Access } from "../access.ts";

/** Of so many tokens something is known at most. */
const MOST = 1_000;

/**
 * What is known of the tokens that the platform knows, by a fingerprint that only this process can make: no token is
 * kept.
 */
export class Tokens {
  readonly #key = randomBytes(32);
  /** Least recently used first. */
  readonly #known = new Map<string, Access>();

  fingerprint(token: string): string {
    return createHmac("sha256", this.#key).update(token).digest("base64url");
  }

  /** What is known of a token; undefined where nothing is. */
  find(fingerprint: string): Access | undefined {
    const access = this.#known.get(fingerprint);
    if (access !== undefined) this.add(fingerprint, access);
    return access;
  }

  /** From now on this is known of it; what was not used for longest is forgotten. */
  add(fingerprint: string, access: Access): void {
    this.#known.delete(fingerprint);
    this.#known.set(fingerprint, access);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MOST) break;
      this.#known.delete(oldest);
    }
  }
}
