import { Random } from "../faults/random.ts";

/** What is done to a bot, besides giving it work. */
export const faultKinds = ["api", "slow", "webhook off", "stopped"] as const;
export type FaultKind = (typeof faultKinds)[number];

/** Something that goes on for a while. Seconds since the beginning of the load. */
export interface Span {
  readonly kind: FaultKind | "pinned reader";
  readonly from: number;
  readonly to: number;
}

/** When what happens in a run. */
export interface Plan {
  /** By their beginnings. Those of faults do not overlap; a reader may hold on while they happen. */
  readonly spans: readonly Span[];
  /** When a person looks after the dead letters, in seconds. */
  readonly rounds: readonly number[];
}

/** How long each lasts at most, in seconds. */
const LONGEST: Readonly<Record<FaultKind, number>> = {
  api: 60,
  slow: 60,
  "webhook off": 120,
  stopped: 2,
};

/** From one fault to the next, in seconds, where the run is long enough for two of each kind. */
const EVERY = 240;

/** The reader pins twice: early, so that what the WAL is afterwards can settle, and again. Shares of the run. */
const PINS = [0.1, 0.6];
const PIN_SHARE = 0.04;
const LONGEST_PIN = 300;

/** From one look at the dead letters to the next, in seconds. */
const ROUND_EVERY = 300;
const MOST_ROUNDS = 20;

/** Nothing happens before and after these shares of the run. */
const BEGIN = 0.05;
const END = 0.95;

/** The plan for a run of so many seconds: one seed, one plan. */
export function planOf(seed: number, seconds: number): Plan {
  const random = new Random(seed);
  const pins = PINS.map((share): Span => {
    const from = share * seconds;
    return { kind: "pinned reader", from, to: from + Math.min(LONGEST_PIN, PIN_SHARE * seconds) };
  });
  const spans = [...faults(random, seconds), ...pins].sort((a, b) => a.from - b.from);
  const length = Math.min(MOST_ROUNDS, Math.max(2, Math.floor(seconds / ROUND_EVERY)));
  const rounds = Array.from({ length }, (_, nth) => (seconds * (nth + 1)) / (length + 1));
  return { spans, rounds };
}

/** Each kind in turn, in an order that changes with every turn. */
function faults(random: Random, seconds: number): Span[] {
  const length = (END - BEGIN) * seconds;
  const count = Math.max(2 * faultKinds.length, Math.floor(length / EVERY));
  const slot = length / count;
  let turn: FaultKind[] = [];
  return Array.from({ length: count }, (_, nth) => {
    if (turn.length === 0) turn = [...faultKinds];
    const kind = random.pick(turn);
    turn = turn.filter((each) => each !== kind);
    const lasts = Math.min(LONGEST[kind], slot / 2) * (0.5 + random.next() / 2);
    const from = BEGIN * seconds + nth * slot + random.next() * (slot - lasts);
    return { kind, from, to: from + lasts };
  });
}
