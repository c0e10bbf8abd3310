import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readDocstring } from "../../scripts/reference/docstring.ts";
import { entryPoints, reference } from "../../scripts/reference/reference.ts";
import { REPORT, surface } from "../../scripts/reference/surface.ts";
import { REFERENCE_PAGES } from "../../scripts/site/pages.ts";
import { ERRORS_SOURCE, PLATFORM_ERRORS_SOURCE } from "../faces/files.ts";
import { root } from "./markdown.ts";

const points = entryPoints();
const entries = points.flatMap((point) =>
  point.entries.map((entry) => ({ ...entry, title: `${point.name} ${entry.name}` })),
);

describe("the reference", () => {
  const written = reference(points);

  test("has the pages that the site lists", () => {
    expect([...written.keys()].map((page) => `docs/${page}`).sort()).toEqual(REFERENCE_PAGES);
  });

  test("is the same when it is made again, and names no place in the sources", () => {
    expect(reference(entryPoints())).toEqual(written);
    for (const text of written.values()) {
      expect(text).not.toMatch(/node_modules|Defined in|:\d+:\d+|#private|\bdist\//);
      // A tag in the output was not parsed.
      expect(text).not.toMatch(/@(?:param|throws|returns|link|internal)\b/);
    }
  });
});

describe("the report of the public surface", () => {
  test("has every signature; if not, run `npm run docs -- reference` and review its diff", () => {
    expect(readFileSync(join(root, REPORT), "utf8")).toBe(surface(points));
  });

  test("has every exported name", () => {
    const report = surface(points);
    for (const { title, name } of entries) {
      expect(report, title).toMatch(
        new RegExp(`^(?:(?:type of )?(?:class|const|function|interface|type) )?${name}\\b`, "m"),
      );
    }
  });
});

describe("docstrings", () => {
  test("every exported name has one", () => {
    const without = entries.filter(({ docstring }) => docstring.text === "");
    expect(without.map(({ title }) => title)).toEqual([]);
  });

  test("so has every method, and every number, with its unit or range", () => {
    const without = entries.flatMap(({ title, members }) =>
      members
        .filter(({ signature }) =>
          /^(?:get |[\w.]+\??: (?:\w+ \| )*number\b|[\w$]+[<(])/.test(signature),
        )
        .filter(({ signature }) => !signature.startsWith("constructor("))
        .filter(({ docstring }) => docstring.text === "")
        .map(({ signature }) => `${title}: ${signature}`),
    );
    expect(without).toEqual([]);
  });

  test("a span in milliseconds says so, in its name or in its words", () => {
    const unclear = entries.flatMap(({ title, docstring, members }) =>
      members
        .filter(({ signature }) => /^(?:timeout|delay|interval|age)\w*\??: number/.test(signature))
        .filter(({ signature }) => !/^\w+Ms\b/.test(signature))
        .filter(
          (one) => !/millisecond|seconds|\bms\b/.test(`${one.docstring.text} ${docstring.text}`),
        )
        .map(({ signature }) => `${title}: ${signature}`),
    );
    expect(unclear).toEqual([]);
  });

  test("every error code in a docstring exists", () => {
    const known = [ERRORS_SOURCE, PLATFORM_ERRORS_SOURCE].map((path) => readFileSync(path, "utf8"));
    const codes = new Set(known.flatMap((text) => text.match(/(?<=")[A-Z_]+(?=")/g) ?? []));
    const thrown = entries.flatMap(({ docstring, members }) =>
      [docstring, ...members.map((member) => member.docstring)].flatMap(({ throws }) => throws),
    );
    const named = thrown.flatMap((text) => text.match(/(?<=`)[A-Z_]+(?=`)/g) ?? []);
    expect(named.length).toBeGreaterThan(40);
    expect([...new Set(named)].filter((code) => !codes.has(code))).toEqual([]);
  });
});

test("a page that a docstring names becomes a link", () => {
  const { text } = readDocstring("* See docs/reference/errors.md#receiving.");
  expect(text).toBe("See [reference/errors.md#receiving](../../reference/errors.md#receiving).");
});

test("a docstring is read: prose, an example, parameters, what is returned and thrown", () => {
  const read = readDocstring(`*
   * Sends it: see {@link Client}.
   *
   *     client.send();
   *       // twice
   *
   * @param body as it is
   * @returns what came
   * @throws {ApiError} EMPTY, TOO_LONG
   *   when it is
   `);
  expect(read).toEqual({
    text: "Sends it: see `Client`.\n\n```ts\nclient.send();\n  // twice\n```",
    parameters: ["`body`: as it is"],
    returns: "what came",
    throws: ["`ApiError` `EMPTY`, `TOO_LONG` when it is"],
  });
  expect(readDocstring("* @throws {ServiceBotError} INVALID_OPTION ")).toMatchObject({
    text: "",
    throws: ["`ServiceBotError` `INVALID_OPTION`"],
  });
});
