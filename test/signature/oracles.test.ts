import { execFileSync, spawnSync } from "node:child_process";
import fc from "fast-check";
import Stripe from "stripe";
import { describe, expect, test } from "vitest";
import { sign, verify } from "../faces/signature.ts";

// The scheme of section 5 is the one that Stripe uses, so Stripe's own library can judge ours.
const { webhooks } = new Stripe("sk_test_unused");

/** Stripe's library looks at the machine's clock. */
const nowSeconds = () => Math.floor(Date.now() / 1000);
const secret = fc.stringMatching(/^whsec_[A-Za-z0-9+/=_-]{1,60}$/);
/** Far enough inside the window that the run of the test does not matter. */
const age = fc.integer({ min: -200, max: 200 });
const jsonBody = fc
  .dictionary(fc.string(), fc.jsonValue())
  .map((fields) => JSON.stringify({ ...fields, object: "event" }));

describe("against Stripe's library", () => {
  test("its headers verify here", () => {
    fc.assert(
      fc.property(jsonBody, secret, age, (payload, key, seconds) => {
        const timestamp = nowSeconds() - seconds;
        const header = webhooks.generateTestHeaderString({ payload, secret: key, timestamp });
        const verdict = verify(Buffer.from(payload), header, { secrets: [key], now: Date.now() });
        expect(verdict).toMatchObject({ ok: true, timestamp });
      }),
      { numRuns: 300 },
    );
  });

  test("our headers pass there", () => {
    fc.assert(
      fc.property(jsonBody, secret, age, (payload, key, seconds) => {
        const header = sign(payload, key, nowSeconds() - seconds);
        const event: unknown = webhooks.constructEvent(Buffer.from(payload), header, key);
        expect(event).toEqual(JSON.parse(payload));
      }),
      { numRuns: 300 },
    );
  });

  test("both refuse the same forgeries", () => {
    fc.assert(
      fc.property(jsonBody, secret, secret, (payload, key, other) => {
        fc.pre(key !== other);
        const header = sign(payload, other, nowSeconds());
        const verdict = verify(Buffer.from(payload), header, { secrets: [key], now: Date.now() });
        expect(verdict.ok).toBe(false);
        expect(() => webhooks.constructEvent(payload, header, key)).toThrow();
      }),
    );
  });

  test("both refuse what is older than 300 s", () => {
    const header = sign("{}", "whsec_x", nowSeconds() - 310);
    const verdict = verify(Buffer.from("{}"), header, { secrets: ["whsec_x"], now: Date.now() });
    expect(verdict.ok ? 200 : verdict.status).toBe(400);
    expect(() => webhooks.constructEvent("{}", header, "whsec_x", 300)).toThrow(/tolerance/);
  });
});

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

describe.runIf(hasOpenssl)("against openssl", () => {
  test.each<[string, Uint8Array]>([
    ["JSON", Buffer.from('{"events":[{"id":"1"}]}')],
    ["an empty body", Buffer.alloc(0)],
    ["umlauts and emoji", Buffer.from('{"text":"grüße 👋"}')],
    ["bytes that are no text", Uint8Array.from({ length: 256 }, (_, index) => index)],
  ])("the signature of %s is the same", (_name, body) => {
    const input = Buffer.concat([Buffer.from("1700000000."), body]);
    const printed = execFileSync("openssl", ["dgst", "-sha256", "-hmac", "whsec_oracle"], {
      input,
    });
    const [hex] = /[0-9a-f]{64}/.exec(printed.toString()) ?? [];
    expect(sign(body, "whsec_oracle", 1_700_000_000)).toBe(`t=1700000000,v1=${hex}`);
  });
});
