import { createHmac, randomBytes } from "node:crypto";
import type { Access } from "../access.ts";

/** Of so many tokens something is known at most. */
const MOST = 1_000;

/**
 * What is known of the tokens that requests came with, by a fingerprint that only this process can make: no token is
 * kept.
 */
export class Tokens {
  readonly #key = randomBytes(32);
  /** Least recently used first. */
  readonly #known = new Map<string, Access>();

  fingerprint(token: string): string {
    return createHmac("sha256", this.#key).update(token).digest("base64url");
  }

  /** What is known of a token; `make` begins with nothing. */
  access(fingerprint: string, make: () => Access): Access {
    const access = this.#known.get(fingerprint) ?? make();
    this.#known.delete(fingerprint);
    this.#known.set(fingerprint, access);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MOST) break;
      this.#known.delete(oldest);
    }
    return access;
  }
}
