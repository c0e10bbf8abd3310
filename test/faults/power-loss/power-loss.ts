import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Random } from "../random.ts";
import type { Outcome, Scenario, ScenarioRun } from "../scenario.ts";
import { cutPower, type Findings } from "./cuts.ts";
import { type RunOptions, runUnderLoad } from "./run.ts";
import { compileShim, whyNoShim } from "./shim.ts";

type Load = Pick<RunOptions, "deliveries" | "signals">;

const sizes: Readonly<Record<ScenarioRun["size"], Load & { runs: number; cuts: number }>> = {
  small: { runs: 1, deliveries: 120, signals: ["SIGKILL"], cuts: 12 },
  large: {
    runs: 6,
    deliveries: 1_000,
    signals: ["SIGKILL", "SIGKILL", "SIGTERM", "SIGKILL"],
    cuts: 60,
  },
};

/** Cuts the power under load. The inbox syncs before each response and each reply, so no event may be lost. */
export const powerLoss: Scenario = {
  name: "power loss: writes not fsynced are dropped",
  whyNot: whyNoShim,
  run: (options) => withJournal(options, undefined, judge),
};

/** Must lose events below FULL. Otherwise the scenario above could never fail. */
export function powerLossControl(synchronous: "OFF" | "NORMAL"): Scenario {
  return {
    name: `power loss, control: synchronous=${synchronous} loses acknowledged events`,
    whyNot: whyNoShim,
    run: (options) => withJournal(options, synchronous, (all) => judgeControl(all, synchronous)),
  };
}

type Judge = (all: readonly Findings[]) => string[];

function judge(all: readonly Findings[]): string[] {
  const early = total(all, "early");
  const wrong = all.flatMap(({ violations }) => violations);
  if (early > 0)
    wrong.push(
      `${early} responses or replies were sent before their events or intents were synced`,
    );
  return wrong;
}

function judgeControl(all: readonly Findings[], synchronous: string): string[] {
  const wrong: string[] = [];
  if (total(all, "lost") === 0) wrong.push(`synchronous=${synchronous} lost nothing`);
  if (total(all, "early") === 0)
    wrong.push(`synchronous=${synchronous} synced before all that was sent`);
  return wrong;
}

async function withJournal(
  { size, seed, progress }: ScenarioRun,
  synchronous: string | undefined,
  judge: Judge,
): Promise<Outcome> {
  const scratch = mkdtempSync(join(tmpdir(), "service-bot-power-"));
  try {
    const random = new Random(seed);
    const shim = compileShim(scratch);
    const { runs, cuts, ...load } = sizes[size];
    const all: Findings[] = [];
    for (let n = 1; n <= runs; n++) {
      const weaker = synchronous === undefined ? {} : { synchronous };
      // Each run needs its own folder, because all journals have the same file names.
      const folder = mkdtempSync(join(scratch, "run-"));
      const lives = await runUnderLoad({ ...load, ...weaker, random, scratch: folder, shim });
      const findings = await cutPower(lives, { cuts, random, scratch: folder });
      all.push(findings);
      progress(`run ${n} of ${runs}: ${findings.cuts} cuts, ${findings.lost} events lost`);
    }
    return { figures: figures(all), violations: judge(all) };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function figures(all: readonly Findings[]): Record<string, number> {
  return {
    "power losses": total(all, "cuts"),
    "answers with 2xx": total(all, "answers"),
    "replies sent": total(all, "requests"),
    syncs: total(all, "syncs"),
    "calls in the journal": total(all, "records"),
    "answers and replies before their sync": total(all, "early"),
    "acknowledged events lost, all cuts added up": total(all, "lost"),
  };
}

function total(all: readonly Findings[], of: Exclude<keyof Findings, "violations">): number {
  return all.reduce((sum, findings) => sum + findings[of], 0);
}
