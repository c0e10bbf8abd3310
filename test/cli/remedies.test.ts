import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { siteUrl } from "../../scripts/site/links.ts";
import { root } from "../docs/markdown.ts";
import { codeInError, remedies, remedyFor } from "../faces/cli.ts";

const PAGE = "docs/reference/errors.md";

/** Returns the remedy of each code in docs/reference/errors.md. Links are text, or URLs if their text is a page. */
function documented(): Record<string, string> {
  const page = readFileSync(join(root, PAGE), "utf8");
  const rows = page.matchAll(/^\| (`.+?) \| .+ \| (.+) \|$/gm);
  return Object.fromEntries(
    [...rows].flatMap(([, codes = "", remedy = ""]) => {
      const text = remedy.replaceAll(
        /\[([^\]]+)\]\(([^)]+)\)/g,
        (_, label: string, target: string) =>
          label.endsWith(".md") ? String(siteUrl(PAGE, target)) : label,
      );
      return [...codes.matchAll(/`([A-Z_]+)`/g)].map(([, code = ""]) => [code, text]);
    }),
  );
}

test("every code has the remedy that docs/reference/errors.md names", () => {
  expect(remedies).toEqual(documented());
});

test("a code that this version does not know has no remedy", () => {
  for (const code of ["OF_A_NEWER_VERSION", "toString", undefined, 401]) {
    expect(remedyFor(code)).toBeUndefined();
  }
});

describe("the code of a stored error is found", () => {
  test.each([
    ["ServiceBotError HANDLER_TIMEOUT: The handler …", "HANDLER_TIMEOUT"],
    ["NetworkError API_UNREACHABLE: cannot reach …", "API_UNREACHABLE"],
    ["ServiceBotError STEP_UNCERTAIN", "STEP_UNCERTAIN"],
    ["GiveUp: no such order", "GAVE_UP"],
    ["GiveUp", "GAVE_UP"],
    ["RetryLater: at noon", "RETRY_LATER"],
  ])("%j", (error, code) => {
    expect(codeInError(error)).toBe(code);
    expect(remedyFor(code)).toBeTypeOf("string");
  });

  test.each([
    "",
    "TypeError: x is undefined",
    "MongoError TOO_LONG: the document …",
    "Error: ServiceBotError HANDLER_TIMEOUT: quoted",
    "toString: no class",
  ])("not in %j", (error) => {
    expect(codeInError(error)).toBeUndefined();
  });
});
