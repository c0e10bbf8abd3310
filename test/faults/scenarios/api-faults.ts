import type { Observed } from "../driver/checker.ts";
import { type Attack, onOneBot, type Stage } from "../driver/fault.ts";
import type { Scenario } from "../scenario.ts";

const RATE = 0.3;
const PEOPLE = 500;

/** Number of concurrent events. Further events would only queue. */
const SLICE = { small: 150, large: 4_000 } as const;

/** Each failing call gets an error response, or takes effect but gets no response. */
export const apiFaults: Scenario = onOneBot({
  name: "API: 429, 500, 503, or a reset after the 201, on 30 % of all calls",
  counted: "slices of events",
  times: { small: 2, large: 5 },
  world: (random) => ({
    platform: { random: random.next },
    env: { CONCURRENCY: "200", LOG_LEVEL: "error" },
  }),
  begin: async (stage) => {
    const { world } = stage;
    world.platform.control.setFaults({ api: { mode: "mix", rate: RATE } });
    await world.boot();
    return new ApiFaults(stage);
  },
});

class ApiFaults implements Attack {
  readonly #stage: Stage;
  readonly #figures: Record<string, number> = { calls: 0 };
  /** Number of 500 responses per lane. A 500 counts as an attempt, because the request itself may have caused it. */
  readonly #errors = new Map<string, number>();

  constructor(stage: Stage) {
    this.#stage = stage;
    stage.world.platform.onTimeline((entry) => {
      if (entry.kind === "api") this.#note(entry.path, entry.status, entry.fault);
    });
  }

  async once(): Promise<void> {
    const { world, random, size } = this.#stage;
    for (let i = 0; i < SLICE[size]; i++) {
      const behaviour = random.chance(0.2) ? "twins" : "answer";
      world.ledger.write({ from: `person${random.below(PEOPLE)}`, behaviour });
    }
    await world.settle();
  }

  /** An outage uses up no attempts, so a lane has no more retries than 500 responses. */
  judge({ stored, written }: Observed) {
    const lanes = new Map(written.map(({ id, lane }) => [id, lane]));
    const retries = new Map<string, number>();
    for (const { id, attempts } of stored) {
      const lane = lanes.get(id) ?? "";
      retries.set(lane, (retries.get(lane) ?? 0) + attempts - 1);
    }
    const violations = [...retries].flatMap(([lane, count]) => {
      const errors = this.#errors.get(lane) ?? 0;
      if (count <= errors) return [];
      return [
        `outages used up attempts: ${count} retries in ${lane}, but only ${errors} 500 responses`,
      ];
    });
    const worst = Math.max(...stored.map(({ attempts }) => attempts));
    return { figures: { ...this.#figures, "attempts per event, worst": worst }, violations };
  }

  #note(path: string, status: number | null, fault: string | undefined): void {
    const name = fault === "lose-answer" ? "answers lost" : `answers of ${status}`;
    for (const counted of fault === undefined ? ["calls"] : ["calls", name]) {
      this.#figures[counted] = (this.#figures[counted] ?? 0) + 1;
    }
    const lane = /^\/dm\/conversations\/(\w+)\/messages$/.exec(path)?.[1];
    if (fault === undefined || status !== 500 || lane === undefined) return;
    this.#errors.set(lane, (this.#errors.get(lane) ?? 0) + 1);
  }
}
