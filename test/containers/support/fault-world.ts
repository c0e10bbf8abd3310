import { whyNoBalancer } from "../../faults/driver/balancer.ts";
import { type Fault, inflict } from "../../faults/driver/fault.ts";
import type { PostgresStore } from "../../faults/driver/postgres-store.ts";
import { World, type WorldOptions } from "../../faults/driver/world.ts";
import type { Outcome, Scenario, ScenarioRun } from "../../faults/scenario.ts";
import { FaultBots, type FaultBotsOptions } from "./fault-bots.ts";
import { docker, hostAddress } from "./given.ts";
import { PostgresContainer } from "./postgres-container.ts";

export type Unnamed = Omit<Scenario, "name">;

export interface ContainerOptions extends WorldOptions {
  readonly image: () => string;
  /** Prefix of the containers', volumes' and networks' names. */
  readonly label: string;
  readonly flags?: FaultBotsOptions["flags"];
  readonly port?: number;
}

export function onVolume(options: ContainerOptions, choose: (bots: FaultBots) => Fault): Unnamed {
  return { run: (run) => runOnVolume(run, options, choose) };
}

export function onPostgres(
  options: ContainerOptions,
  choose: (bots: FaultBots, database: PostgresContainer) => Fault<PostgresStore>,
): Unnamed {
  return { whyNot: whyNoBalancer, run: (run) => runOnPostgres(run, options, choose) };
}

async function runOnVolume(
  run: ScenarioRun,
  { image, label, flags = () => [], port = 3000, folder, ...options }: ContainerOptions,
  choose: (bots: FaultBots) => Fault,
): Promise<Outcome> {
  const name = nameOf(label);
  const given = { docker, image: image(), name, flags, port };
  const volume = `${name}-data`;
  if (folder === undefined) await docker.run("volume", "create", volume);
  const mounted = "{{.Mountpoint}}";
  const place = folder ?? (await docker.run("volume", "inspect", "--format", mounted, volume));
  const bots = await FaultBots.create({ ...given, data: folder ?? volume });
  try {
    const world: WorldOptions = {
      ...options,
      ...{
        folder: place,
        launch: bots.launch,
        platform: { host: await hostAddress(), ...options.platform },
      },
      env: { DATABASE_URL: "file:data/bot.db", ...options.env },
    };
    return await inflict([choose(bots)], run, () => World.start(world));
  } finally {
    await bots.remove();
    if (folder === undefined) await docker.run("volume", "rm", volume);
  }
}

async function runOnPostgres(
  run: ScenarioRun,
  { image, label, flags = () => [], port = 3000, instances = 3, ...options }: ContainerOptions,
  choose: (bots: FaultBots, database: PostgresContainer) => Fault<PostgresStore>,
): Promise<Outcome> {
  const name = nameOf(label);
  const database = await PostgresContainer.start(docker, name);
  const given = { docker, image: image(), name, instances, network: database.network };
  const bots = await FaultBots.create({ ...given, flags, port });
  try {
    const world: WorldOptions = {
      ...options,
      ...{
        instances,
        launch: bots.launch,
        platform: { host: await hostAddress(), ...options.platform },
      },
    };
    return await inflict([choose(bots, database)], run, () =>
      World.startCluster(async (scratch) => database.store(scratch), world),
    );
  } finally {
    await bots.remove();
    await database.remove();
  }
}

function nameOf(label: string): string {
  return `${label}-${process.pid}`;
}
