import { expect, test } from "vitest";
import { parseArguments, requireWhole, USAGE } from "./arguments.ts";

test("a run takes ten minutes, and two hours where it is documented", () => {
  expect(parseArguments([])).toMatchObject({ minutes: 10, rate: 20, document: false });
  expect(parseArguments(["--document"])).toMatchObject({ minutes: 120, document: true });
});

test.each([
  [["--minutes", "0"], "--minutes must be a number from 0.1"],
  [["--minutes", ""], "--minutes must be"],
  [["--rate", "many"], '--rate must be a number from 1 to 200 (got "many")'],
  [["--from-last"], "--from-last goes with --document"],
  [["--document", "--minutes", "10"], "10 minutes are too few"],
])("%j is refused", (args, message) => {
  expect(() => parseArguments(args)).toThrow(message);
});

test("a last run that was too short is not documented", () => {
  expect(() => requireWhole(10)).toThrow("it takes 120");
  expect(() => requireWhole(120)).not.toThrow();
});

test("the usage names every flag", () => {
  for (const flag of ["minutes", "rate", "seed", "json", "document", "from-last"]) {
    expect(USAGE).toContain(`--${flag}`);
  }
});
