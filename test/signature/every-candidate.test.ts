import { timingSafeEqual } from "node:crypto";
import { expect, test, vi } from "vitest";
import { sign, verify } from "../../src/signature/signature.ts";

vi.mock("node:crypto", async (original) => {
  const crypto = await original<typeof import("node:crypto")>();
  return { ...crypto, timingSafeEqual: vi.fn(crypto.timingSafeEqual) };
});

const secrets = ["whsec_first_one", "whsec_second_one", "whsec_third_one"];
const body = Buffer.from('{"events":[]}');
const t = 1_700_000_000;
const bad = `v1=${"0".repeat(64)}`;

test.each([...secrets, "whsec_none_of_them"])(
  "each signature is compared in constant time with each secret, also when %s has signed",
  (secret) => {
    vi.mocked(timingSafeEqual).mockClear();
    const [, good] = sign(body, secret, t).split(",");
    const header = `t=${t},${good},${bad},${good}`;
    const verdict = verify(body, header, { secrets, now: t * 1000 });
    expect(verdict.ok).toBe(secrets.includes(secret));
    expect(timingSafeEqual).toHaveBeenCalledTimes(9);
  },
);
