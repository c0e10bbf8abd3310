import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, expectTypeOf, test } from "vitest";
import { ApiError, apiErrorOf, NetworkError, platformCodes } from "./faces/client.ts";
import {
  ConfigError,
  type ErrorCode,
  hasCode,
  messageOf,
  ServiceBotError,
} from "./faces/errors.ts";
import { ERRORS_SOURCE, RECEIVER_SOURCES, SIGNATURE_SOURCES } from "./faces/files.ts";

const source = readFileSync(ERRORS_SOURCE, "utf8");
const catalogue = readFileSync(new URL("../docs/reference/errors.md", import.meta.url), "utf8");

function codesOf(text: string): string[] {
  const unions = [...text.matchAll(/export type (?:ErrorCode|PlatformCode) =([^;]*);/g)];
  const codes = unions.flatMap(([, union = ""]) => [...union.matchAll(/"([A-Z_]+)"/g)]);
  return [...new Set(codes.map(([, code = ""]) => code))];
}

function sourcesIn(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => readFileSync(join(folder, path), "utf8"))
    .join("\n");
}

function rowsOf(text: string): { code: string; cells: string[] }[] {
  return [...text.matchAll(/^\| `([A-Z_]+)` \|(.*)\|$/gm)].map(([, code = "", rest = ""]) => ({
    code,
    cells: rest.split(" | ").map((cell) => cell.trim()),
  }));
}

describe("the catalogue in docs/reference/errors.md", () => {
  const codes = codesOf(source);
  const rows = rowsOf(catalogue);

  test("has every code of src/errors.ts, ours and the platform's, and no other, once each", () => {
    expect(codes.length).toBeGreaterThan(30);
    expect(rows.map(({ code }) => code).sort()).toEqual([...codes].sort());
  });

  test("has the families of the platform's codes", () => {
    const families = [...catalogue.matchAll(/^\| `(\w+Error)` \| (.*) \|$/gm)];
    const documented = families.flatMap(([, family = "", cell = ""]) =>
      [...cell.matchAll(/`([A-Z_]+)`/g)].map(([, code]) => `${code}: ${family}`),
    );
    const real = platformCodes.map((platformCode) => {
      const { name } = apiErrorOf("x", { status: 400, platformCode });
      return `${platformCode}: ${name}`;
    });
    expect(documented.sort()).toEqual(real.sort());
  });

  test("says of each what it means and what to do", () => {
    for (const { code, cells } of rows) {
      expect(cells, code).toHaveLength(2);
      for (const cell of cells) expect(cell.length, code).toBeGreaterThan(10);
    }
  });

  test("gives the status that the receiver answers with", () => {
    const refusals = [RECEIVER_SOURCES, SIGNATURE_SOURCES].flatMap((folder) => [
      ...sourcesIn(folder).matchAll(/(?:failure|refuse)\(\s*(\d{3}),\s*"([A-Z_]+)"/g),
    ]);
    expect(refusals.length).toBeGreaterThan(9);
    for (const [, status = "", code = ""] of refusals) {
      const row = rows.find((one) => one.code === code);
      expect(row?.cells[0], code).toMatch(new RegExp(`^${status}\\.`));
    }
  });

  test("is read right: a code too many or too few is seen", () => {
    expect(codesOf('export type ErrorCode =\n  // start\n  | "A_B"\n  | "C";')).toEqual([
      "A_B",
      "C",
    ]);
    expect(codesOf('export type PlatformCode = "D";\nexport type Other = "E";')).toEqual(["D"]);
    expect(rowsOf("| `A_B` | it broke | mend it |\n| code | x |")).toEqual([
      { code: "A_B", cells: ["it broke", "mend it"] },
    ]);
  });
});

test("every code is used somewhere", () => {
  const text = sourcesIn(join(import.meta.dirname, "..", "src")).replace(source, "");
  const own = source.slice(source.indexOf("export class ServiceBotError"));
  const unused = codesOf(source).filter((code) => !`${text}${own}`.includes(`"${code}"`));
  expect(unused).toEqual([]);
});

describe("errors", () => {
  test("are one family, with a code that is typed", () => {
    const errors = [
      new ServiceBotError("INTERNAL", "x"),
      new ConfigError(["PORT is missing"]),
      new ApiError("x", { status: 500 }),
      new NetworkError("API_TIMEOUT", "x", { sent: true }),
    ];
    for (const error of errors) {
      expect(error).toBeInstanceOf(ServiceBotError);
      expect(error).toBeInstanceOf(Error);
      expect(error.name).toBe(error.constructor.name);
      expect(String(error)).toMatch(new RegExp(`^${error.constructor.name}: `));
    }
    expectTypeOf<ServiceBotError["code"]>().toEqualTypeOf<ErrorCode>();
  });

  test("keep their cause", () => {
    const cause = new Error("below");
    expect(new ServiceBotError("INTERNAL", "x", { cause }).cause).toBe(cause);
    expect(new NetworkError("API_UNREACHABLE", "x", { sent: false, cause }).cause).toBe(cause);
  });

  test("of the configuration list every problem, and their number", () => {
    expect(new ConfigError(["PORT is missing"]).message).toMatch(/1 problem:\n.*PORT is missing/);
    const two = new ConfigError(["PORT is missing", "HOST is odd"]);
    expect(two).toMatchObject({
      code: "CONFIG_INVALID",
      problems: ["PORT is missing", "HOST is odd"],
    });
    expect(two.message).toMatch(/2 problems:\n.*PORT is missing\n.*HOST is odd/);
  });

  test.each([
    [300, "API_REDIRECT"],
    [399, "API_REDIRECT"],
    [299, "API_ERROR"],
    [400, "API_ERROR"],
    [503, "API_ERROR"],
  ])("of the API with status %i have the code %s", (status, code) => {
    const error = new ApiError("x", { status, platformCode: "SOMETHING_NEW", retryAfterMs: 5 });
    expect(error).toMatchObject({ code, status, platformCode: "SOMETHING_NEW", retryAfterMs: 5 });
  });
});

describe("what was thrown", () => {
  test("has a message for any value", () => {
    expect(messageOf(new Error("cannot"))).toBe("cannot");
    expect(messageOf("cannot")).toBe("cannot");
    expect(messageOf(undefined)).toBe("undefined");
    expect(messageOf({ message: "cannot" })).toBe("[object Object]");
  });

  test("has a code, or has none", () => {
    expect(hasCode(new ServiceBotError("INTERNAL", "x"), "INTERNAL")).toBe(true);
    expect(hasCode({ code: "EADDRINUSE" }, "EADDRINUSE")).toBe(true);
    expect(hasCode({ code: "EADDRINUSE" }, "EACCES")).toBe(false);
    for (const other of [undefined, null, "EACCES", 5, {}])
      expect(hasCode(other, "EACCES")).toBe(false);
  });
});
