import { whyNoBalancer } from "../../driver/balancer.ts";
import { type Observed, type Rules, repeats } from "../../driver/checker.ts";
import { Cluster, type ClusterOptions } from "../../driver/cluster.ts";
import { Load } from "../../driver/load.ts";
import { readyFigures, scaled } from "../../driver/numbers.ts";
import { Random } from "../../random.ts";
import type { Outcome, Scenario, ScenarioRun, Size } from "../../scenario.ts";

/** What is done to bots that work, again and again. */
export interface Attack {
  /** One time, from 1 up. Resolves when it is over. */
  once(time: number): Promise<void>;
  /** Once all is over, before anything is settled. */
  end?(): Promise<void>;
  /** What the checker must let pass. */
  rules?(): Rules;
  /** What else is to be told, and to be found wrong. */
  judge?(observed: Observed): {
    readonly figures: Outcome["figures"];
    readonly violations: readonly string[];
  };
}

export interface ClusterScenario {
  readonly name: string;
  readonly times: Readonly<Record<Size, number>>;
  readonly cluster?: ClusterOptions;
  /** What is counted, as it stands in the table: `kills`. */
  readonly counted: string;
  begin(cluster: Cluster, random: Random): Attack;
}

/** Between two messages, in milliseconds: tests share the machine. */
const PAUSE_MS: Readonly<Record<Size, number>> = { small: 15, large: 4 };

/** Several bots on PostgreSQL, behind a load balancer, are attacked while people write to them. */
export function onCluster(options: ClusterScenario): Scenario {
  const name = `postgres, three instances: ${options.name}`;
  return { name, whyNot: whyNoBalancer, run: (run) => attack(options, run) };
}

async function attack(
  { times: sizes, counted, begin, ...options }: ClusterScenario,
  { size, seed, scale, progress }: ScenarioRun,
): Promise<Outcome> {
  const { times } = scaled({ times: sizes[size] }, scale);
  const cluster = await Cluster.start(options.cluster);
  // Of its own, for it writes as fast as the bots answer.
  const load = new Load(cluster.ledger, new Random(seed + 1), PAUSE_MS[size]);
  const attack = begin(cluster, new Random(seed));
  try {
    load.start();
    for (let time = 1; time <= times && !cluster.broken; time++) {
      await attack.once(time);
      if (time % Math.ceil(times / 10) === 0) {
        progress(`${time} of ${times} ${counted}, ${cluster.ledger.said} said`);
      }
    }
    await load.stop();
    await attack.end?.();
    const { observed, leases } = await cluster.finish(attack.rules?.());
    const judged = attack.judge?.(observed);
    const figures = {
      [counted]: times,
      events: observed.stored.length,
      answers: cluster.ledger.said,
      "of them said again": repeats(observed),
      ...judged?.figures,
      "late results dropped": leases.dropped,
      "stale completions": leases.stale,
      "stuck lanes": leases.stranded,
      ...(cluster.readyMs.length > 0 ? readyFigures(cluster.readyMs) : {}),
    };
    return { figures, violations: [...cluster.violations, ...(judged?.violations ?? [])] };
  } finally {
    await load.stop();
    await cluster.close();
  }
}
