import { resultsOf } from "../../bench/harness/results.ts";
import { measureRounds } from "../../bench/harness/rounds.ts";
import { table } from "../../bench/harness/table.ts";
import { scaffoldersFrom } from "../../bench/support/scaffolders.ts";

/** Ours may take so many times what the peer takes, of anything. */
const LIMIT = 1.2;
const ROUNDS = 5;

/**
 * Times the scaffolder beside create-vite, both from this registry, and prints the ratios.
 *
 * @returns whether all of them are within the limit
 */
export async function compareWithPeer(registryUrl: string): Promise<boolean> {
  const stage = await scaffoldersFrom(registryUrl, { quick: true });
  try {
    const results = resultsOf(stage.figures, await measureRounds(stage.subjects, ROUNDS));
    const title = `the scaffolder beside create-vite, ratios up to ${LIMIT}`;
    console.log(`\n${table([{ benchmark: "timings", title, results }])}`);
    const above = results.filter(({ ratio = 0 }) => ratio > LIMIT);
    for (const { figure, ratio } of above) {
      console.log(`✘ ${figure}: ${ratio?.toFixed(2)} times that of create-vite`);
    }
    return above.length === 0;
  } finally {
    await stage.close();
  }
}
