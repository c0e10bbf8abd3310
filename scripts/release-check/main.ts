/**
 * Runs `npm run release:check`: publishes the packages to a registry on loopback, and uses them as a new user would. If
 * a step fails in any cell, prints the end of its output and exits with code 1.
 */
import { messageOf } from "../../src/errors.ts";
import { sizeTable } from "../pack/size.ts";
import { killAll } from "../registry/program.ts";
import { publishBoth } from "../registry/registry.ts";
import { parseArguments, USAGE, type Wanted } from "./arguments.ts";
import { type Cell, nameOf } from "./cells.ts";
import { Databases } from "./databases.ts";
import { BrokenJourney, type Dependencies, steps, type Timings, travel } from "./journey.ts";
import { compareWithPeer } from "./timings.ts";

let stopped = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  // Killed programs fail, so the usual cleanup follows.
  process.once(signal, () => {
    stopped = true;
    killAll();
  });
}

async function main(args: readonly string[]): Promise<boolean> {
  const wanted = parseArguments(args);
  if (wanted.help) {
    console.log(USAGE);
    return true;
  }
  const { registry, packed } = await publishBoth();
  try {
    console.log(sizeTable(packed));
    return await check(wanted, registry.url);
  } finally {
    await registry.close();
  }
}

async function check(wanted: Wanted, registryUrl: string): Promise<boolean> {
  const databases = new Databases();
  let failed = 0;
  try {
    const dependencies = { registryUrl, databaseUrl: () => databases.make() };
    console.log(`\n${line("seconds", steps)}`);
    for (const cell of wanted.cells) {
      if (stopped) return false;
      if (!(await checkCell(cell, dependencies))) failed += 1;
    }
  } finally {
    await databases.close();
  }
  console.log(`\n${wanted.cells.length - failed} of ${wanted.cells.length} cells passed`);
  if (!wanted.timings || stopped) return failed === 0;
  return (await compareWithPeer(registryUrl, wanted)) && failed === 0;
}

async function checkCell(cell: Cell, dependencies: Dependencies): Promise<boolean> {
  try {
    const timings = await travel(cell, dependencies);
    console.log(line(nameOf(cell), cellsOf(timings)));
    return true;
  } catch (error) {
    if (!(error instanceof BrokenJourney)) throw error;
    console.log(`${nameOf(cell).padEnd(32)} ✘\n${error.message}`);
    return false;
  }
}

function cellsOf(timings: Timings): readonly string[] {
  return steps.map((step) => timings[step].toFixed(1));
}

function line(name: string, values: readonly string[]): string {
  return [name.padEnd(32), ...values.map((value) => value.padStart(10))].join("");
}

try {
  if (!(await main(process.argv.slice(2)))) process.exitCode = 1;
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
