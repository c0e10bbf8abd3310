import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { afterEach, beforeEach, expect, type MockInstance, test, vi } from "vitest";
import { sign, verify } from "../faces/signature.ts";

let compare: MockInstance<typeof crypto.timingSafeEqual>;

beforeEach(() => {
  compare = vi.spyOn(crypto, "timingSafeEqual");
  syncBuiltinESMExports();
});

afterEach(() => {
  compare.mockRestore();
  syncBuiltinESMExports();
});

const secrets = ["whsec_first_one", "whsec_second_one", "whsec_third_one"];
const body = Buffer.from('{"events":[]}');
const t = 1_700_000_000;
const bad = `v1=${"0".repeat(64)}`;

test.each([...secrets, "whsec_none_of_them"])(
  "each signature is compared in constant time with each secret, also when %s has signed",
  (secret) => {
    const [, good] = sign(body, secret, t).split(",");
    const header = `t=${t},${good},${bad},${good}`;
    const verdict = verify(body, header, { secrets, now: t * 1000 });
    expect(verdict.ok).toBe(secrets.includes(secret));
    expect(compare).toHaveBeenCalledTimes(9);
  },
);
