import type { BotSettings } from "../../faults/bot/protocol.ts";
import type { Outcome, Scenario, ScenarioRun } from "../../faults/scenario.ts";
import { killInstances, short, underLoad } from "../../faults/scenarios/cluster.ts";
import { Kills } from "../../faults/scenarios/kills.ts";
import { freezes } from "../../faults/scenarios/postgres.ts";
import { onPostgres, onVolume } from "../support/fault-world.ts";

/** A container takes longer to reach its database at first. */
const settings: Partial<BotSettings> = { ...short, databaseTimeoutMs: 5_000 };

/** Every fault of containers. `image` is asked for once a scenario runs. */
export function scenariosOf(image: () => string): readonly Scenario[] {
  const kills = (run: ScenarioRun): Promise<Outcome> =>
    onVolume(run, { image, label: "faults-kills" }, () => [
      {
        name: "kills",
        counted: "kills",
        times: { small: 10, large: 200 },
        begin: (stage) => {
          const choose = () => (stage.random.chance(0.2) ? "twins" : "answer");
          return new Kills(stage, { people: 40, choose });
        },
      },
    ]);
  const instanceKills = killInstances({
    name: "kills of instances",
    times: { small: 6, large: 100 },
    answersPerLife: { small: 60, large: 60 },
  });
  const pauses = { ...freezes, times: { small: 4, large: 40 } };
  const onCluster = (label: string, fault: typeof pauses) => (run: ScenarioRun) =>
    onPostgres(run, { image, label, settings }, () => [underLoad(fault, short)]);
  return [
    { name: "docker kill under load", run: kills },
    {
      name: "docker kill of one of three under load",
      run: onCluster("faults-instances", instanceKills),
    },
    {
      name: "docker pause of one or two of three under load, for 1 to 3 leases",
      run: onCluster("faults-pauses", pauses),
    },
  ];
}
