import { setTimeout as wait } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import type { World } from "../driver/world.ts";
import { Random } from "../random.ts";
import type { Crowd } from "./crowd.ts";

const faultKinds = ["the API fails", "slow platform", "webhook off", "bot frozen"] as const;
type FaultKind = (typeof faultKinds)[number];
export const PINNED = "pinned reader";

export interface Span {
  readonly kind: FaultKind | typeof PINNED;
  readonly from: number;
  readonly to: number;
}

const LONGEST: Readonly<Record<FaultKind, number>> = {
  "the API fails": 60,
  "slow platform": 60,
  "webhook off": 120,
  "bot frozen": 2,
};

/** Time between two faults, in seconds. If the run is too short for this interval, it gets two faults of each kind. */
const EVERY = 240;

/** When the pins begin, as fractions of the run. The first is early, so that the WAL has time to shrink after it. */
const PINS = [0.1, 0.6];
const PIN_SHARE = 0.04;
const LONGEST_PIN = 300;

const HOLD_MS = 1_500;

/** Plans a run. Faults follow one another between 5 and 95 % of the run, and a reader pins the WAL twice. */
export function planOf(seed: number, seconds: number): Span[] {
  const random = new Random(seed);
  const pins = PINS.map((share): Span => {
    const from = share * seconds;
    return { kind: PINNED, from, to: from + Math.min(LONGEST_PIN, PIN_SHARE * seconds) };
  });
  const count = Math.max(2 * faultKinds.length, Math.floor((0.9 * seconds) / EVERY));
  const slot = (0.9 * seconds) / count;
  let turn: FaultKind[] = [];
  const faults = Array.from({ length: count }, (_, nth): Span => {
    if (turn.length === 0) turn = [...faultKinds];
    const kind = random.pick(turn);
    turn = turn.filter((each) => each !== kind);
    const lasts = Math.min(LONGEST[kind], slot / 2) * (0.5 + random.next() / 2);
    const from = 0.05 * seconds + nth * slot + random.next() * (slot - lasts);
    return { kind, from, to: from + lasts };
  });
  return [...pins, ...faults];
}

export async function inflictBadLuck(
  world: World,
  spans: readonly Span[],
  crowd: Crowd,
  progress: (line: string) => void,
): Promise<void> {
  const run = async ({ kind, from, to }: Span) => {
    await crowd.reached(from);
    progress(`${kind} begins`);
    await inflict(kind, crowd.reached(to), world);
    progress(`${kind} ends`);
  };
  await Promise.all(spans.map(run));
}

/** Inflicts one kind of fault until `over` resolves, and then repairs it. */
async function inflict(kind: Span["kind"], over: Promise<void>, world: World): Promise<void> {
  const { control } = world.platform;
  switch (kind) {
    case "the API fails":
      control.setFaults({ api: { mode: "mix", rate: 0.2 } });
      await over;
      break;
    case "slow platform":
      control.setFaults({ webhook: { mode: "delay", delayMs: HOLD_MS, rate: 0.5 } });
      await holdRequests(world, over);
      break;
    case "webhook off":
      control.saveWebhook({ enabled: false });
      await over;
      control.saveWebhook({ enabled: true });
      return;
    case "bot frozen":
      await world.bots[0]?.freeze();
      await over;
      world.bots[0]?.thaw();
      return;
    case PINNED: {
      // The open read transaction of another process keeps SQLite from resetting the WAL.
      const reader = new Sqlite(world.store.file, { readonly: true });
      reader.exec("BEGIN");
      reader.prepare("SELECT count(*) FROM sqlite_schema").get();
      await over;
      reader.close();
      return;
    }
  }
  control.setFaults({ api: { mode: "none" }, webhook: { mode: "none" } });
}

/** Repeatedly holds back a fraction of the requests. Each new fault releases the requests held by the last. */
async function holdRequests(world: World, over: Promise<void>): Promise<void> {
  let ended = false;
  const end = over.then(() => {
    ended = true;
  });
  while (!ended) {
    world.platform.control.setFaults({ api: { mode: "hold", match: "all", rate: 0.3 } });
    await Promise.race([wait(HOLD_MS), end]);
  }
}
