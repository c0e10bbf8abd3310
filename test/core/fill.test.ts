import { expect, test } from "vitest";
import { fill, fillLine } from "../faces/core.ts";

test("further lines begin below the text behind the label", () => {
  expect(fill("  --port  ", "the port to listen on", 24)).toBe(
    "  --port  the port to\n          listen on",
  );
});

test("a command in backticks and a flag in brackets stay in one line", () => {
  expect(fill("", "Run `npm run dev`. [--port N]", 14)).toBe("Run\n`npm run dev`.\n[--port N]");
});

test("a line within 80 columns stays, and a longer one keeps its mark", () => {
  expect(fillLine("  - a  b")).toBe("  - a  b");
  expect(fillLine(`  - ${"word ".repeat(20)}end`)).toMatch(/^ {2}- word .*\n {4}word .*end$/);
});
