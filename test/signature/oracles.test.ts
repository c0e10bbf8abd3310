import { describe, expect, test } from "vitest";
import { sign, verify } from "../faces/signature.ts";
import recorded from "./stripe-headers.json" with { type: "json" };

// Section 5 of the platform document uses Stripe's scheme. These headers come from stripe 23.1.0
// (webhooks.generateTestHeaderString).
describe.each(recorded)("Stripe's header for $payload at $timestamp", (row) => {
  const { payload, secret, timestamp, header } = row;

  test("is ours too", () => {
    expect(sign(payload, secret, timestamp)).toBe(header);
  });

  test("verifies, and not with another secret", () => {
    const verdict = (key: string) =>
      verify(Buffer.from(payload), header, { secrets: [key], now: timestamp * 1000 });
    expect(verdict(secret)).toMatchObject({ ok: true, timestamp });
    expect(verdict(`${secret}x`)).toMatchObject({ ok: false, status: 401 });
  });
});

// Created by OpenSSL 3.0: { printf '1700000000.'; cat BODY; } | openssl dgst -sha256 -hmac whsec_oracle
test.each<[string, Uint8Array, string]>([
  [
    "JSON",
    Buffer.from('{"events":[{"id":"1"}]}'),
    "583bda46e0be2953dda1fd6885c8333c8b7cf8b5c4136a3a905920aaf756752c",
  ],
  [
    "an empty body",
    Buffer.alloc(0),
    "ab21fc0612b07e6bd290fdd61f70a354ccf319296b18af350f4721fa4c25456b",
  ],
  [
    "umlauts and emoji",
    Buffer.from('{"text":"grüße 👋"}'),
    "94c91ce6880279967f9c510765d5b94430a2d52524e47b37a23c5533c17f3cf9",
  ],
  [
    "bytes that are no text",
    Uint8Array.from({ length: 256 }, (_, index) => index),
    "367ae07246f94932ed1567b25ce6dc1d8be18c6e77907b765250bab224455be3",
  ],
])("openssl signs %s alike", (_name, body, hex) => {
  expect(sign(body, "whsec_oracle", 1_700_000_000)).toBe(`t=1700000000,v1=${hex}`);
});
