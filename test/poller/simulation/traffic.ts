import type { Clock } from "../../faces/core.ts";
import type { Random } from "../../faults/random.ts";
import type { Schedule } from "./schedule.ts";

const types = ["dm.message", "dm.message", "mention", "like", "like", "follow"] as const;

const MINUTE = 60_000;

const rates = {
  none: { pause: Number.POSITIVE_INFINITY, most: 0 },
  sparse: { pause: 100 * MINUTE, most: 1 },
  steady: { pause: 4 * MINUTE, most: 1 },
  bursts: { pause: 90 * MINUTE, most: 160 },
};

export function startTraffic(
  schedule: Schedule,
  clock: Clock,
  random: Random,
  until: number,
  make: (type: string) => void,
): void {
  const { pause, most } = rates[schedule.traffic];
  if (most === 0) return;
  const next = (): void => {
    const ms = -Math.log(1 - random.next()) * pause;
    if (clock.now() + ms >= until) return;
    clock.timer(ms, () => {
      const count = 1 + random.below(most);
      for (let i = 0; i < count; i++) clock.timer(i * 40, () => make(random.pick(types)));
      next();
    });
  };
  next();
}
