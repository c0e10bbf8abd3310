import fc from "fast-check";
import { ManualClock } from "../../faces/testing.ts";
import type { Outcome, Scenario } from "../scenario.ts";
import { commands } from "./commands/index.ts";
import { InboxModel } from "./inbox-model.ts";
import { openSqliteStore } from "./sqlite-store.ts";
import type { Command, OpenStore, Trial } from "./trial.ts";
import { compareWholeState } from "./whole-state.ts";

const START = 1_800_000_000_000;

/** Low, so that runs reach the limit. */
const MAX_BACKLOG = 12;

/** Time limit for shrinking, in ms. Shrinking must end before the test times out. */
const SHRINK_MS = 30_000;

export interface ModelRuns {
  readonly runs: number;
  readonly seed: number;
  readonly open: OpenStore;
  readonly progress?: (line: string) => void;
  /** Time limit for shrinking, in ms. Default: 30,000. */
  readonly shrinkMs?: number;
}

/**
 * Runs random commands against the model and the store. Resolves to the number of commands.
 *
 * @throws the smallest difference found
 */
export async function compareWithModel(options: ModelRuns): Promise<number> {
  const { runs, seed, open, progress = () => undefined, shrinkMs = SHRINK_MS } = options;
  let done = 0;
  let executed = 0;
  let shrinkUntil = Number.POSITIVE_INFINITY;
  const property = fc.asyncProperty(
    fc.commands(commands, { maxCommands: 60, size: "max" }),
    async (list) => {
      // After the time limit, let commands pass without running them, so that shrinking ends.
      if (performance.now() >= shrinkUntil) return;
      executed += await runOnce(list, open).catch((error: unknown) => {
        shrinkUntil = Math.min(shrinkUntil, performance.now() + shrinkMs);
        throw error;
      });
      done += 1;
      if (done % 1_000 === 0) progress(`${done} runs, ${executed} commands`);
    },
  );
  await fc.assert(property, { numRuns: runs, seed });
  return executed;
}

async function runOnce(list: Iterable<Command>, open: OpenStore): Promise<number> {
  const clock = new ManualClock(START);
  const store = await open({ clock, maxBacklog: MAX_BACKLOG });
  const model = new InboxModel(START, MAX_BACKLOG, store.inbox.shared !== undefined);
  const trial: Trial = { store, clock, claims: [], versions: new Map(), executed: 0 };
  try {
    await fc.asyncModelRun(() => ({ model, real: trial }), list);
    await compareWholeState(model, trial);
    return trial.executed;
  } finally {
    await store.close();
  }
}

export const modelScenario: Scenario = {
  name: "model-based",
  async run({ size, seed, progress }): Promise<Outcome> {
    const runs = size === "small" ? 200 : 10_000;
    try {
      const executed = await compareWithModel({ runs, seed, progress, open: openSqliteStore });
      return { figures: { runs, commands: executed }, violations: [] };
    } catch (error) {
      return {
        figures: { runs },
        violations: [`The inbox differs from the model: ${explain(error)}`],
      };
    }
  },
};

/** Formats fast-check's report, including the commands and the original difference. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}\n${explain(error.cause)}`;
}
