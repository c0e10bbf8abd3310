import { EventEmitter } from "node:events";
import { describe, expect, test, vi } from "vitest";
import {
  type Confidential,
  duringEvent,
  environmentSecrets,
  secretScrubber,
  UncaughtErrors,
} from "../faces/core.ts";
import { FORBIDDEN } from "../support/hostile-text.ts";
import { unreadable } from "../support/unreadable.ts";

const KEY = "key-canary-5e1f/8a62+9=";
const TEXT = "meet me at\nthe old pier";

class PrintingProcess extends EventEmitter {
  readonly version = "v24.0.0";
  readonly codes: number[] = [];
  printed = "";
  readonly stderr = {
    write: (text: string) => {
      this.printed += text;
    },
  };

  exit(code: number): void {
    this.codes.push(code);
  }
}

function guarded(source: Partial<Confidential> = {}) {
  const process = new PrintingProcess();
  const errors = new UncaughtErrors(process);
  errors.add({ secrets: () => [KEY], ...source });
  return { process, errors };
}

function printed(
  error: unknown,
  source: Partial<Confidential> = { textsOf: () => [TEXT] },
): string {
  const { process } = guarded(source);
  process.emit("uncaughtException", error);
  expect(process.codes).toEqual([1]);
  return process.printed;
}

const basic = Buffer.from(`bot:${KEY}`).toString("base64");
const values: readonly (readonly [string, (value: string) => unknown])[] = [
  ["the message of an error", (value) => new Error(`cannot read ${value}`)],
  ["its cause", (value) => new Error("outer", { cause: new Error(value) })],
  ["one of several errors", (value) => new AggregateError([new Error(value), value], "several")],
  ["a field", (value) => Object.assign(new Error("x"), { path: value, code: value })],
  ["the name", (value) => Object.assign(new Error("x"), { name: value })],
  ["a frozen error", (value) => Object.freeze(new Error(value))],
  ["a thrown text", (value) => value],
  ["a thrown object", (value) => ({ message: value, value, nested: { value } })],
];

describe.each(values)("%s", (_place, thrown) => {
  test("is printed without a secret, however it is encoded", () => {
    const encoded = [KEY, encodeURIComponent(KEY), JSON.stringify({ KEY }), basic];
    for (const value of [...encoded, Buffer.from(KEY).toString("hex")]) {
      const text = printed(thrown(value));
      expect(text).not.toContain(value);
      expect(text).not.toContain(basic.slice(8, -4));
    }
  });

  test("is printed without a user's text", () => {
    const text = printed(thrown(`he said ${TEXT}.`));
    expect(text).not.toMatch(/old pier|meet me/);
  });

  test("is printed with everything else", () => {
    expect(printed(thrown("an ordinary text"))).toContain("an ordinary text");
  });
});

describe("an uncaught error", () => {
  test("is printed with its causes, fields and stacks, and ends the process with code 1", () => {
    const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED", port: 5432 });
    const text = printed(new TypeError("no database", { cause }));
    expect(text).toMatch(/^TypeError: no database\n +at /);
    expect(text).toMatch(/caused by: Error: refused\n +at .*code: ECONNREFUSED.*port: 5432/s);
    expect(text).toMatch(/Node\.js v24\.0\.0\n$/);
  });

  test.each(Object.entries(unreadable))("may be %s", (_name, value) => {
    const text = printed(value());
    expect(text).toContain("Node.js");
    expect(text.length).toBeLessThan(100_000);
  });

  test("prints no character that commands a terminal", () => {
    expect(printed(new Error("\u001b[2J\u202e\u0007"))).not.toMatch(FORBIDDEN);
  });

  test("is left to the application's own listeners, whenever they were added", () => {
    for (const isFirst of [true, false]) {
      const process = new PrintingProcess();
      const own = vi.fn();
      if (isFirst) process.on("uncaughtException", own);
      new UncaughtErrors(process).add({ secrets: () => [KEY] });
      if (!isFirst) process.on("uncaughtException", own);
      const error = new Error(KEY);
      process.emit("uncaughtException", error);
      expect(own).toHaveBeenCalledExactlyOnceWith(error);
      expect(error.message).toBe(KEY);
      expect(process).toMatchObject({ codes: [], printed: "" });
    }
  });

  test("of an event is named after it, and hides every text if the event's texts are forgotten", () => {
    const textsOf = (event: string | undefined) => (event === "evt_1" ? [TEXT] : undefined);
    const during = (id: string) =>
      duringEvent({ id, trace: undefined }, () =>
        printed(new Error(`no ${TEXT}, but tea`), { textsOf }),
      );
    expect(during("evt_1")).toMatch(/no \[redacted\], but tea.*evt_1/s);
    expect(during("evt_2")).toMatch(/^Error: \[redacted\]\n +at .*uncaught\.test\.ts.*evt_2/s);
    expect(during("evt_2")).not.toContain("tea");
  });

  test("is redacted for all bots of the process, even if one of them fails to say what", () => {
    const { process, errors } = guarded({ textsOf: () => [TEXT] });
    const fail = () => {
      throw new Error("closed");
    };
    errors.add({ secrets: fail, textsOf: fail });
    errors.add({ secrets: () => ["another secret"], textsOf: () => ["another text"] });
    process.emit("uncaughtException", new Error(`${KEY} ${TEXT} another secret, another text`));
    expect(process.printed).not.toMatch(/canary|pier|another/);
    expect(process.listenerCount("uncaughtException")).toBe(1);
  });
});

describe("a warning", () => {
  const warned = (warning: unknown) => {
    const process = new PrintingProcess();
    const shown: Error[] = [];
    const own: unknown[] = [];
    process.on("warning", function onWarning(one: Error) {
      shown.push(one);
    });
    process.on("warning", (one) => own.push(one));
    new UncaughtErrors(process).add({ secrets: () => [KEY], textsOf: () => [TEXT] });
    process.emit("warning", warning);
    expect(own[0] === warning).toBe(true);
    expect(shown).toHaveLength(1);
    return shown[0];
  };

  test("is printed by Node without secrets and texts, and reaches other listeners as it is", () => {
    const warning = Object.assign(new Error(`old ${KEY}`), {
      ...{ name: "DeprecationWarning", code: "DEP1", detail: `use ${TEXT}` },
    });
    const shown = warned(Object.freeze(warning));
    expect(shown).toBeInstanceOf(Error);
    expect(shown).toMatchObject({
      name: "DeprecationWarning",
      code: "DEP1",
      detail: "use [redacted]",
    });
    expect(`${shown?.stack} ${shown}`).not.toMatch(/canary/);
    expect(shown?.message).toBe("old [redacted]");
  });

  test.each(Object.entries(unreadable))("may be %s", (_name, value) => {
    expect(warned(value())).toBeInstanceOf(Error);
  });

  test("is not printed if Node does not print warnings", () => {
    const { process } = guarded();
    process.emit("warning", new Error("x"));
    expect(process.listenerCount("warning")).toBe(0);
  });
});

describe("secrets", () => {
  test("of an environment are all its keys, secrets and passwords, even if it is invalid", () => {
    const env = {
      SERVICE_API_KEY: " key-1 ",
      SERVICE_WEBHOOK_SECRET: "whsec_1, whsec_2",
      SERVICE_CONTROL_TOKEN: "control-1",
      STATUS_TOKEN: "status-1",
      DATABASE_URL: "postgres://bot:pa%40ss@db/bot",
      PGPASSWORD: "pg-1",
      SERVICE_BASE_URL: "nonsense",
    };
    expect(environmentSecrets(env).sort()).toEqual(
      [
        "control-1",
        "key-1",
        "pa%40ss",
        "pa@ss",
        "pg-1",
        "pg-1",
        "status-1",
        "whsec_1",
        "whsec_2",
      ].sort(),
    );
    expect(environmentSecrets({ DATABASE_URL: "nonsense" })).toEqual([]);
  });

  test("are redacted at any place of a text in base64", () => {
    const scrub = secretScrubber([KEY]);
    for (const encoding of ["base64", "base64url"] as const) {
      for (const before of ["", "a", "ab", "abc"]) {
        for (const after of ["", "x", "xy", "xyz"]) {
          const encoded = Buffer.from(before + KEY + after).toString(encoding);
          const rest = scrub(encoded).replaceAll("[redacted]", "");
          expect(rest.length, `${before} ${after} ${encoded}`).toBeLessThan(14);
        }
      }
    }
  });
});
