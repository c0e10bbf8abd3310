import { createHmac, timingSafeEqual } from "node:crypto";
import { SECRET } from "../../support/formats.ts";

/** Checks only the HMAC, and nothing else, such as the timestamp's age. */
export function verified(header, body) {
  const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  const expected = createHmac("sha256", SECRET).update(`${t}.`).update(body).digest();
  return v1 !== undefined && timingSafeEqual(expected, Buffer.from(v1, "hex"));
}
