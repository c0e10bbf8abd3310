import { defaultBodyBytes } from "../../faces/bot.ts";
import type { BotSettings } from "../../faults/bot/protocol.ts";
import { SmallDisk } from "../../faults/driver/disk.ts";
import { type Fault, usualLoad } from "../../faults/driver/fault.ts";
import type { PostgresStore } from "../../faults/driver/postgres-store.ts";
import type { Scenario } from "../../faults/scenario.ts";
import { killInstances, short } from "../../faults/scenarios/cluster.ts";
import { fillDisk } from "../../faults/scenarios/disk-full.ts";
import { killUnderLoad } from "../../faults/scenarios/kills.ts";
import { freezes } from "../../faults/scenarios/postgres.ts";
import { stopUnderLoad } from "../../faults/scenarios/stops.ts";
import { STOP_GRACE_S } from "../support/container.ts";
import type { FaultBots } from "../support/fault-bots.ts";
import {
  type ContainerOptions,
  onPostgres,
  onVolume,
  type Unnamed,
} from "../support/fault-world.ts";
import { docker } from "../support/given.ts";
import type { PostgresContainer } from "../support/postgres-container.ts";
import { Attacks } from "./attacks.ts";
import { ContainerClock, FAKETIME_FOLDER, shiftClock } from "./clocks.ts";
import { cutOff } from "./cuts.ts";
import { MemoryLimit } from "./memory-limit.ts";

/** Longer than usual, because a new container takes longer to reach its database. */
const shared: Partial<BotSettings> = { ...short, databaseTimeoutMs: 5_000 };

const patient: Partial<BotSettings> = { requestTimeoutMs: 10_000 };

/** A request timeout shorter than the cuts. */
const hasty: Partial<BotSettings> = { requestTimeoutMs: 400 };

const DISK_SIZE = { small: 16, large: 64 } as const;

const small = new MemoryLimit(docker, 128 * 1024 * 1024);

/** Lists every container fault. Calls `image` when the first scenario runs. */
export function scenariosOf(image: () => string): readonly Scenario[] {
  const alone = (
    label: string,
    choose: (bots: FaultBots) => Fault,
    options: Partial<ContainerOptions> = {},
  ): Unnamed => onVolume({ image, label, ...options }, choose);

  const three = (
    label: string,
    choose: (bots: FaultBots, database: PostgresContainer) => Fault<PostgresStore>,
    settings: Partial<BotSettings> = shared,
  ): Unnamed => onPostgres({ image, label, settings }, choose);

  const kills = alone("faults-kills", () => ({
    counted: "kills",
    times: { small: 10, large: 200 },
    begin: (stage) =>
      killUnderLoad(stage, 40, () => (stage.random.chance(0.2) ? "twins" : "answer")),
  }));

  const stops = alone("faults-stops", () => ({
    counted: "stops",
    times: { small: 6, large: 100 },
    begin: (stage) => stopUnderLoad(stage, STOP_GRACE_S * 1_000),
  }));

  /** @param settings include a request timeout shorter or longer than the cuts, which last 0.5 to 3 s */
  const cuts = (label: string, settings: Partial<BotSettings>, times: Fault["times"]) =>
    alone(
      label,
      (bots) => ({
        counted: "times disconnected",
        times,
        load: usualLoad,
        isBooted: true,
        begin: (stage) => {
          const peer = new URL(stage.world.platform.url);
          return cutOff(stage, { bots, network: bots.network, peer, maxMs: 3_000 });
        },
      }),
      { settings },
    );
  const shortCuts = cuts("faults-cuts", patient, { small: 5, large: 60 });
  const longCuts = cuts("faults-long-cuts", hasty, { small: 20, large: 60 });

  const fullDisk: Scenario["run"] = async (run) => {
    const disk = SmallDisk.mount(DISK_SIZE[run.size]);
    if (disk === undefined) throw new Error("only root can mount a file system");
    const fault: Fault = {
      counted: "times full",
      times: { small: 4, large: 60 },
      isBooted: true,
      begin: (stage) => fillDisk(stage, () => disk),
    };
    try {
      return await alone("faults-disk", () => fault, { folder: disk.folder }).run(run);
    } finally {
      disk.unmount();
    }
  };

  const attacks = alone(
    "faults-memory",
    (bots) => ({
      counted: "attacks",
      times: { small: 4, large: 20 },
      load: usualLoad,
      isBooted: true,
      begin: async (stage) => {
        stage.world.violations.push(...(await small.checkEngine(image())));
        return new Attacks(stage, bots, small, defaultBodyBytes(small.bytes));
      },
    }),
    {
      flags: () => small.flags,
      settings: patient,
    },
  );

  const clocks: Scenario["run"] = async (run) => {
    const clock = new ContainerClock();
    const fault = (bots: FaultBots): Fault => ({
      counted: "clock jumps",
      times: { small: 4, large: 40 },
      load: usualLoad,
      isBooted: true,
      begin: (stage) => shiftClock(stage, bots, docker, clock),
    });
    const settings = { silenceMs: 2_000 };
    return await alone("faults-clock", fault, { flags: () => clock.flags, settings }).run(run);
  };

  const instanceKills = killInstances({
    times: { small: 6, large: 100 },
    answersPerLife: { small: 60, large: 60 },
  });
  const pauses = { ...freezes, times: { small: 4, large: 40 } };
  const platformCuts = three(
    "faults-cuts-platform",
    (bots) => ({
      counted: "times disconnected",
      times: { small: 10, large: 40 },
      load: usualLoad,
      begin: (stage) => {
        const peer = new URL(stage.world.platform.url);
        const network = bots.network;
        return cutOff(stage, { bots, network, peer, maxMs: 4_000, mayCount: true });
      },
    }),
    { ...shared, ...hasty },
  );
  const databaseCuts = three(
    "faults-cuts-database",
    (bots, { network, name }) => ({
      counted: "times disconnected",
      times: { small: 5, large: 40 },
      load: usualLoad,
      begin: (stage) => {
        const peer = new URL(`tcp://${name}:5432`);
        const isForAll = (time: number) => time % 5 === 0;
        return cutOff(stage, { bots, network, peer, maxMs: 4_000, isForAll, mayCount: true });
      },
    }),
    { ...shared, ...patient },
  );
  return [
    { name: "docker kill under load", ...kills },
    { name: "docker stop under load", ...stops },
    { name: "docker network disconnect from the platform under load", ...shortCuts },
    {
      name: "docker network disconnect from the platform for longer than a request may take, under load",
      ...longCuts,
    },
    { name: "a volume that is full, then freed, under load", run: fullDisk },
    { name: "128 MB of memory, under load and attack", ...attacks },
    {
      name: "a clock that is off by ±10 min, from the start or at once, under load",
      whyNot: () =>
        FAKETIME_FOLDER === undefined
          ? "the clock of a container is not moved: there is no libfaketime (Debian: apt-get install libfaketime)"
          : undefined,
      run: clocks,
    },
    {
      name: "three on PostgreSQL: docker kill of one under load",
      ...three("faults-instances", () => instanceKills),
    },
    {
      name: "three on PostgreSQL: docker pause of one or two under load, for 1 to 3 leases",
      ...three("faults-pauses", () => pauses),
    },
    {
      name: "three on PostgreSQL: docker network disconnect of one from the platform for longer than a request may take, under load",
      ...platformCuts,
    },
    {
      name: "three on PostgreSQL: docker network disconnect of one or all from the database under load",
      ...databaseCuts,
    },
  ];
}
