import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sign, verify } from "../faces/signature.ts";

const secret = "whsec_of_this_test";
const body = Buffer.from('{"events":[]}');
const t = 1_700_000_000;
const good = sign(body, secret, t);
const hex = good.split("v1=")[1] ?? "";

function statusOf(header: string | readonly string[] | undefined): number {
  const verdict = verify(body, header, { secrets: [secret], now: t * 1000 });
  return verdict.ok ? 200 : verdict.status;
}

test("the header that the rest of this file spoils is good", () => {
  expect(statusOf(good)).toBe(200);
});

describe("a header that section 5 does not describe is refused with 400", () => {
  test.each<[string, string]>([
    ["empty", ""],
    ["a blank", " "],
    ["a comma", ","],
    ["a word", "signature"],
    ["t alone", `t=${t}`],
    ["v1 alone", `v1=${hex}`],
    ["t without a value", `t=,v1=${hex}`],
    ["v1 without a value", `t=${t},v1=`],
    ["two different t", `t=${t},t=${t + 1},v1=${hex}`],
    ["the same t twice", `t=${t},t=${t},v1=${hex}`],
    ["a second t at the end", `${good},t=${t}`],
    ["t of 400 digits", `t=${"9".repeat(400)},v1=${hex}`],
    ["t beyond what a number holds", `t=9007199254740993000,v1=${hex}`],
    ["t as Infinity", `t=Infinity,v1=${hex}`],
    ["t as NaN", `t=NaN,v1=${hex}`],
    ["a negative t", `t=-${t},v1=${hex}`],
    ["t with a plus", `t=+${t},v1=${hex}`],
    ["t with a leading zero", `t=0${t},v1=${hex}`],
    ["t with a fraction", `t=${t}.0,v1=${hex}`],
    ["t with an exponent", `t=17e8,v1=${hex}`],
    ["t in hex", `t=0x6553f100,v1=${hex}`],
    ["t in Arabic digits", `t=١٧٠٠٠٠٠٠٠٠,v1=${hex}`],
    ["t in milliseconds, as 16 digits", `t=${t}000000,v1=${hex}`],
    ["uppercase hex", `t=${t},v1=${hex.toUpperCase()}`],
    ["63 hex digits", `t=${t},v1=${hex.slice(1)}`],
    ["65 hex digits", `t=${t},v1=${hex}0`],
    ["128 hex digits", `t=${t},v1=${hex}${hex}`],
    ["a letter that is no hex digit", `t=${t},v1=${hex.slice(1)}g`],
    ["base64", `t=${t},v1=${Buffer.from(hex, "hex").toString("base64")}`],
    ["one good v1 and one of the wrong length", `${good},v1=abc`],
    ["a blank after the comma", `t=${t}, v1=${hex}`],
    ["a blank before t", ` ${good}`],
    ["a blank at the end", `${good} `],
    ["a line break at the end", `${good}\n`],
    ["a NUL at the end", `${good}\0`],
    ["a NUL inside", `t=${t}\0,v1=${hex}`],
    ["a comma at the end", `${good},`],
    ["a semicolon between", `t=${t};v1=${hex}`],
    ["names in capitals", `T=${t},V1=${hex}`],
    ["quotes around the values", `t="${t}",v1="${hex}"`],
    ["an element without a name", `${good},=x`],
    ["an element without an equals sign", `${good},v2`],
    ["an element that is unicode", `${good},x=ü`],
    ["a full-width t", `ｔ=${t},v1=${hex}`],
    ["two headers, as Node joins them", `${good}, ${good}`],
    ["a hundred thousand elements", Array(100_000).fill("x=1").join(",")],
    ["a megabyte of one value", `t=${t},v1=${hex},x=${"a".repeat(1_000_000)}`],
    ["only an unknown scheme", `t=${t},v2=${hex}`],
    ["only v0", `t=${t},v0=${hex}`],
  ])("%s", (_name, header) => {
    const verdict = verify(body, header, { secrets: [secret], now: t * 1000 });
    expect(verdict).toMatchObject({ ok: false, status: 400, code: "SIGNATURE_MALFORMED" });
  });

  test("a list of headers, even of one good one", () => {
    expect(statusOf([])).toBe(400);
    expect(statusOf([good])).toBe(400);
    expect(statusOf([good, good])).toBe(400);
  });
});

describe("what the platform may add later is passed over", () => {
  test.each<[string, string]>([
    ["another scheme at the end", `${good},v2=${"f".repeat(96)}`],
    ["another scheme in front", `v0=abc,${good}`],
    ["another scheme between", `t=${t},v2=abc,v1=${hex}`],
    ["a key id", `kid=2026-01,${good}`],
    ["a key id with a longer name", `key_id=2026-01,${good}`],
    ["an empty value", `${good},note=`],
    ["a value with equals signs", `${good},v3=YWJj==`],
    ["v1 before t", `v1=${hex},t=${t}`],
  ])("%s", (_name, header) => {
    expect(statusOf(header)).toBe(200);
  });
});

/** Generates texts that resemble a header, so that the parser gets past the first character. */
const almost = fc
  .array(
    fc.oneof(
      fc.constantFrom(good, `t=${t}`, `v1=${hex}`, "t", "v1", "=", ",", " ", "\0", hex, String(t)),
      fc.string({ unit: "binary", maxLength: 8 }),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(""));

describe("for any header", () => {
  test("the check never throws, and only exact signatures pass", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: "binary" }), almost), (header) => {
        const status = statusOf(header);
        expect([200, 400, 401]).toContain(status);
        // A header that passes must contain the valid signature.
        if (status === 200) expect(header).toContain(`v1=${hex}`);
      }),
      { numRuns: 2_000 },
    );
  });

  test("a well-formed one with another signature is refused with 401", () => {
    const digits = fc.string({
      unit: fc.constantFrom(..."0123456789abcdef"),
      minLength: 64,
      maxLength: 64,
    });
    fc.assert(
      fc.property(digits, (other) => {
        fc.pre(other !== hex);
        expect(statusOf(`t=${t},v1=${other}`)).toBe(401);
      }),
    );
  });
});
