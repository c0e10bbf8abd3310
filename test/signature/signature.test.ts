import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { sign, TOLERANCE_SECONDS, type Verdict, verify } from "../faces/signature.ts";

const secret = "whsec_of_this_test";
const body = Buffer.from('{"events":[]}');
/** Unix time in seconds. */
const t = 1_700_000_000;

function at(seconds: number, header: string, secrets: readonly string[] = [secret]): Verdict {
  return verify(body, header, { secrets, now: seconds * 1000 });
}

function codeOf(verdict: Verdict): string {
  return verdict.ok ? "ok" : `${verdict.status} ${verdict.code}`;
}

describe("the form of section 5, rule 6", () => {
  test("t in seconds, v1 as lowercase hex of HMAC-SHA256 over <t>.<body>, keyed with the whole secret", () => {
    const expected = createHmac("sha256", secret).update(`${t}.{"events":[]}`).digest("hex");
    expect(sign(body, secret, t)).toBe(`t=${t},v1=${expected}`);
  });

  test("text is signed as UTF-8", () => {
    expect(sign("grüß", secret, t)).toBe(sign(Buffer.from("grüß", "utf8"), secret, t));
  });

  test("a fraction of a second is cut off", () => {
    expect(sign(body, secret, t + 0.999)).toBe(sign(body, secret, t));
  });

  test("what sign makes, verify accepts, and it hands out t and the place of the secret", () => {
    expect(at(t, sign(body, secret, t))).toEqual({
      ok: true,
      timestamp: t,
      secretIndex: 0,
    });
  });
});

describe("the verdicts of section 5, rule 7", () => {
  test("no header is refused with 400", () => {
    expect(codeOf(verify(body, undefined, { secrets: [secret], now: t * 1000 }))).toBe(
      "400 SIGNATURE_MISSING",
    );
  });

  test("a malformed header is refused with 400", () => {
    expect(codeOf(at(t, "signed, honestly"))).toBe("400 SIGNATURE_MALFORMED");
  });

  test("another secret is refused with 401", () => {
    expect(codeOf(at(t, sign(body, "whsec_another", t)))).toBe("401 SIGNATURE_MISMATCH");
  });

  test("another body is refused with 401", () => {
    expect(codeOf(at(t, sign('{"events":[1]}', secret, t)))).toBe("401 SIGNATURE_MISMATCH");
  });

  test("a stale timestamp is distinguished from a mismatch although both are wrong", () => {
    expect(codeOf(at(t + 301, sign(body, "whsec_another", t)))).toBe("400 SIGNATURE_STALE");
  });

  test("a message for the sender holds neither a secret nor a signature that would match", () => {
    const expected = sign(body, secret, t).split("v1=")[1] ?? "";
    const refused = [
      verify(body, undefined, { secrets: [secret], now: t * 1000 }),
      at(t, "nonsense"),
      at(t + 999, `t=${t},v1=${"0".repeat(64)}`),
      at(t, `t=${t},v1=${"0".repeat(64)}`),
    ];
    for (const verdict of refused) {
      expect(verdict.ok).toBe(false);
      expect(JSON.stringify(verdict)).not.toContain(secret);
      expect(JSON.stringify(verdict)).not.toContain(expected);
    }
  });
});

describe("the replay window", () => {
  test("is 300 s", () => {
    expect(TOLERANCE_SECONDS).toBe(300);
  });

  test.each([
    ["0 s", 0, "ok"],
    ["299 s old", 299, "ok"],
    ["300 s old", 300, "ok"],
    ["301 s old", 301, "400 SIGNATURE_STALE"],
    ["a day old", 86_400, "400 SIGNATURE_STALE"],
    ["299 s in the future", -299, "ok"],
    ["300 s in the future", -300, "ok"],
    ["301 s in the future", -301, "400 SIGNATURE_STALE"],
  ])("a timestamp %s: %s", (_name, age, expected) => {
    expect(codeOf(at(t + age, sign(body, secret, t)))).toBe(expected);
  });

  test("counts in whole seconds of the receiver's clock: 300.999 s are 300", () => {
    expect(codeOf(at(t + 300.999, sign(body, secret, t)))).toBe("ok");
    expect(codeOf(at(t + 301, sign(body, secret, t)))).toBe("400 SIGNATURE_STALE");
  });

  test("cannot be dodged by t=0", () => {
    expect(codeOf(at(t, sign(body, secret, 0)))).toBe("400 SIGNATURE_STALE");
  });

  test("the message of a stale signature says which way the clocks differ, and by how much", () => {
    const old = at(t + 400, sign(body, secret, t));
    const early = at(t - 500, sign(body, secret, t));
    expect(old.ok ? "" : old.message).toMatch(/400 s old.*clock/);
    expect(early.ok ? "" : early.message).toMatch(/500 s in the future.*clock/);
  });
});

describe("several secrets, during a rotation", () => {
  const secrets = ["whsec_first_one", "whsec_second_one", "whsec_third_one"];

  test.each(secrets)("the verdict has the position of %s in the list", (one) => {
    const verdict = at(t, sign(body, one, t), secrets);
    expect(verdict).toMatchObject({ ok: true, secretIndex: secrets.indexOf(one) });
  });

  test("signed with several of them, the first counts, in whichever order they signed", () => {
    const [first, second, third] = secrets.map((one) => sign(body, one, t).split(",")[1]);
    for (const signatures of [`${third},${second},${first}`, `${first},${third}`]) {
      expect(at(t, `t=${t},${signatures}`, secrets)).toMatchObject({ secretIndex: 0 });
    }
    expect(at(t, `t=${t},${third},${second}`, secrets)).toMatchObject({ secretIndex: 1 });
  });

  test("a secret that is in the list twice counts where it stands first", () => {
    const twice = ["whsec_first_one", secret, secret];
    expect(at(t, sign(body, secret, t), twice)).toMatchObject({ secretIndex: 1 });
  });

  test("no secret at all verifies nothing", () => {
    expect(codeOf(at(t, sign(body, secret, t), []))).toBe("401 SIGNATURE_MISMATCH");
  });

  test("one matching v1 among several is enough, wherever it stands", () => {
    const [, good] = sign(body, secret, t).split(",");
    const bad = `v1=${"0".repeat(64)}`;
    expect(codeOf(at(t, `t=${t},${bad},${good}`))).toBe("ok");
    expect(codeOf(at(t, `t=${t},${good},${bad}`))).toBe("ok");
    expect(codeOf(at(t, `t=${t},${bad},${bad}`))).toBe("401 SIGNATURE_MISMATCH");
  });

  test("the prefix whsec_ is part of the key", () => {
    expect(codeOf(at(t, sign(body, secret.replace("whsec_", ""), t)))).toBe(
      "401 SIGNATURE_MISMATCH",
    );
  });
});

describe("what is signed is bytes", () => {
  test("two bodies that decode to the same text are distinguished", () => {
    const one = Uint8Array.from([0xff]);
    const other = Uint8Array.from([0xfe]);
    expect(Buffer.from(one).toString()).toBe(Buffer.from(other).toString());
    const header = sign(one, secret, t);
    expect(verify(other, header, { secrets: [secret], now: t * 1000 }).ok).toBe(false);
  });

  test("a view into a larger buffer is taken for itself alone", () => {
    const whole = Buffer.concat([Buffer.from("before"), body, Buffer.from("after")]);
    const view = new Uint8Array(whole.buffer, whole.byteOffset + 6, body.length);
    const header = sign(body, secret, t);
    expect(verify(view, header, { secrets: [secret], now: t * 1000 }).ok).toBe(true);
  });
});
