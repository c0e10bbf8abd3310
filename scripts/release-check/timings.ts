import type { Stage } from "../../bench/harness/benchmark.ts";
import { resultsOf } from "../../bench/harness/results.ts";
import { measureRounds } from "../../bench/harness/rounds.ts";
import { table } from "../../bench/harness/table.ts";
import { scaffoldersFrom } from "../../bench/support/scaffolders.ts";

/** Ours may take so many times what the peer takes, of anything. */
const LIMIT = 1.2;
const ROUNDS = 5;

/** A machine that is busy for a while tells nothing of ours. */
const TRIES = 3;

/**
 * Times the scaffolder beside create-vite, both from this registry, and prints the ratios.
 *
 * @returns whether all of them are within the limit, in one of the tries
 */
export async function compareWithPeer(registryUrl: string): Promise<boolean> {
  const stage = await scaffoldersFrom(registryUrl, { quick: true });
  try {
    for (let tried = 0; tried < TRIES; tried += 1) {
      if (await isWithinLimit(stage)) return true;
    }
    return false;
  } finally {
    await stage.close();
  }
}

async function isWithinLimit({ subjects, figures }: Stage): Promise<boolean> {
  const results = resultsOf(figures, await measureRounds(subjects, ROUNDS));
  const title = `the scaffolder beside create-vite, ratios up to ${LIMIT}`;
  console.log(`\n${table([{ benchmark: "timings", title, results }])}`);
  const above = results.filter(({ ratio = 0 }) => ratio > LIMIT);
  for (const { figure, ratio } of above) {
    console.log(`✘ ${figure}: ${ratio?.toFixed(2)} times that of create-vite`);
  }
  return above.length === 0;
}
