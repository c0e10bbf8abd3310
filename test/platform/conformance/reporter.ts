import type { Reporter, TestCase, TestModule } from "vitest/node";
import { rules, sectionOf } from "./rules.ts";

const HERE = import.meta.dirname;

const titles: Readonly<Record<string, string>> = {
  "2": "Resources and their fields",
  "3": "States and transitions",
  "4": "Endpoints",
  "5": "Authentication",
  "6": "Events",
  "7": "Errors",
  "8": "Limits",
};

/**
 * Prints how many of the platform document's rules passed: as a table if only the conformance tests ran, and in one
 * line if other tests ran as well.
 */
export class ConformanceReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const cases = modules
      .filter(({ moduleId }) => moduleId.startsWith(`${HERE}/section-`))
      .flatMap((module) => [...module.children.allTests()]);
    if (cases.length === 0) return;
    const alone = modules.every(({ moduleId }) => moduleId.startsWith(HERE));
    const lines = summary(cases);
    console.log(`\n${(alone ? lines : lines.slice(-1)).join("\n")}`);
  }
}

/** The last line is the total. */
function summary(cases: readonly TestCase[]): string[] {
  const states = new Map(cases.map((one) => [idOf(one), one.result().state]));
  const all = Object.keys(rules);
  const shown = (list: readonly string[]) => list.filter((id) => states.get(id) === "passed");
  const sections = [...new Set(all.map(sectionOf))].map((section) => {
    const list = all.filter((id) => sectionOf(id) === section);
    const count = `${shown(list).length} of ${list.length}`;
    return `  ${section}  ${(titles[section] ?? "").padEnd(28)} ${count.padStart(10)}`;
  });
  const missing = all.filter((id) => states.get(id) !== "passed");
  const open = missing.map((id) => `  not shown (${states.get(id) ?? "not run"}): ${id}`);
  const sum = `Conformance: ${all.length} rules, ${shown(all).length} shown`;
  return ["Rules in the platform document, by section:", ...sections, ...open, sum];
}

function idOf({ name }: TestCase): string {
  return name.slice(0, name.indexOf(": "));
}
