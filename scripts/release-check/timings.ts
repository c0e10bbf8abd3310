import type { Stage } from "../../bench/harness/benchmark.ts";
import { type Result, resultsOf } from "../../bench/harness/results.ts";
import { measureRounds } from "../../bench/harness/rounds.ts";
import { table } from "../../bench/harness/table.ts";
import { scaffoldersFrom } from "../../bench/support/scaffolders.ts";
import type { Wanted } from "./arguments.ts";
import { aboveLimit, LIMIT } from "./limit.ts";

const ROUNDS = 5;

/** Runs per round, of which only the fastest counts. */
const STARTS = 25;

/**
 * Times the scaffolder against create-vite, both with this registry, and prints the ratios.
 *
 * @returns true if each ratio was within the limit at least once, or if ratios are not judged
 */
export async function compareWithPeer(
  registryUrl: string,
  { judged }: Pick<Wanted, "judged">,
): Promise<boolean> {
  const stage = await scaffoldersFrom(registryUrl, STARTS);
  try {
    if (!judged) {
      await measure(stage);
      return true;
    }
    const above = await aboveLimit(() => measure(stage));
    for (const { figure, ratio } of above) {
      console.log(`✘ ${figure}: ${ratio?.toFixed(2)} times that of create-vite`);
    }
    return above.length === 0;
  } finally {
    await stage.close();
  }
}

async function measure({ subjects, figures }: Stage): Promise<readonly Result[]> {
  const results = resultsOf(figures, await measureRounds(subjects, ROUNDS));
  const title = `the scaffolder compared with create-vite, ratios up to ${LIMIT}`;
  console.log(`\n${table([{ benchmark: "timings", title, results }])}`);
  return results;
}
