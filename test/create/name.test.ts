import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { packageName, templates, UsageError } from "../faces/create.ts";

describe("a directory's name becomes a package name", () => {
  test.each([
    ["my-bot", "my-bot"],
    ["My Bot!", "my-bot"],
    ["a.b_c-1", "a.b_c-1"],
    ["_private", "private"],
    [".hidden", "hidden"],
    ["Größe Ångström", "gro-e-angstrom"],
    ["bot 🤖 two", "bot-two"],
    ["@scope", "scope"],
    ["trailing.", "trailing"],
    ["--dashes--", "dashes"],
    ["2048", "2048"],
  ])("%s becomes %s", (base, name) => {
    expect(packageName(base)).toBe(name);
  });

  test("a plain name stays as it is, double dashes too", () => {
    expect(packageName("a--b")).toBe("a--b");
  });
});

describe("names that cannot be", () => {
  test.each([
    ["", "Cannot derive a package name"],
    ["机器人", "Cannot derive a package name"],
    ["!!!", "Cannot derive a package name"],
    ["con", "Windows"],
    ["NUL", "Windows"],
    ["com1.bot", "Windows"],
    ["Lpt9", "Windows"],
    ["node_modules", "reserved"],
    ["favicon.ico", "reserved"],
    ["service-bot", "reserved"],
    ["Service Bot", "reserved"],
    ["events", "Node module"],
    ["a".repeat(215), "214"],
  ])("%s is refused", (base, reason) => {
    expect(() => packageName(base)).toThrow(UsageError);
    expect(() => packageName(base)).toThrow(reason);
  });

  test.each(templates)("the dependencies of the template %s are reserved", (template) => {
    const file = new URL(`../../templates/${template}/_package.json`, import.meta.url);
    const { dependencies, devDependencies } = JSON.parse(readFileSync(file, "utf8"));
    const names = Object.keys({ ...dependencies, ...devDependencies });
    expect(names).toContain("service-bot");
    for (const name of names.filter((each) => !each.startsWith("@"))) {
      expect(() => packageName(name), name).toThrow("reserved");
    }
  });

  test("a name that only begins like a device is fine", () => {
    expect(packageName("console-bot")).toBe("console-bot");
    expect(packageName("com10")).toBe("com10");
  });

  test("the remedy proposes a name that passes", () => {
    for (const base of ["con", "com1.bot", "events", "service-bot"]) {
      const proposal = /such as (\S+)\.$/.exec(messageFor(base))?.[1] ?? "";
      expect(packageName(proposal)).toBe(proposal);
    }
  });
});

function messageFor(base: string): string {
  try {
    return packageName(base);
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
}
