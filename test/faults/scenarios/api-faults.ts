import type { Stored } from "../driver/checker.ts";
import { scaled } from "../driver/numbers.ts";
import { World } from "../driver/world.ts";
import { Random } from "../random.ts";
import type { Outcome, Scenario, ScenarioRun, Size } from "../scenario.ts";

const sizes: Readonly<Record<Size, { events: number }>> = {
  small: { events: 1_000 },
  large: { events: 20_000 },
};

const RATE = 0.3;
const PEOPLE = 500;

/** The API answers badly, or not at all after it has done what it was asked for, to 30 % of all calls. */
export const apiFaults: Scenario = {
  name: "API: 429, 500, 503, or a reset after the 201, on 30 % of all calls",
  async run({ size, seed, scale, progress }: ScenarioRun): Promise<Outcome> {
    const { events } = scaled(sizes[size], scale);
    const random = new Random(seed);
    const world = await World.start({
      platform: { random: random.next },
      env: { CONCURRENCY: "200", LOG_LEVEL: "error" },
    });
    const answers = new Answers();
    world.platform.onTimeline((entry) => {
      if (entry.kind === "api") answers.note(entry.path, entry.status, entry.fault);
    });
    try {
      world.platform.control.setFaults({ api: { mode: "mix", rate: RATE } });
      const bot = await world.boot();
      for (let i = 0; i < events; i++) {
        const behaviour = random.chance(0.2) ? "twins" : "answer";
        world.ledger.write({ from: `person${random.below(PEOPLE)}`, behaviour });
        // As fast as it is answered, or the backlog would be all that there is to see.
        if (i % 4_000 === 3_999) {
          await world.settled(bot);
          progress(`${i + 1} of ${events} events`);
        }
      }
      const { stored, written } = await world.finish(bot);
      world.violations.push(...answers.check(stored, new Map(written.map((w) => [w.id, w.lane]))));
      const figures = {
        events: stored.length,
        answers: world.ledger.said,
        calls: answers.calls,
        ...answers.faults,
        "attempts per event, worst": Math.max(...stored.map(({ attempts }) => attempts)),
      };
      return { figures, violations: world.violations };
    } finally {
      await world.close();
    }
  },
};

/** Counts what the API answered, in all and by conversation. */
class Answers {
  calls = 0;
  readonly faults: Record<string, number> = {};
  /** Answers of 500: they may be the request's own fault, so they count as attempts. */
  readonly #errors = new Map<string, number>();

  note(path: string, status: number | null, fault: string | undefined): void {
    this.calls += 1;
    if (fault === undefined) return;
    const name = fault === "lose-answer" ? "answers lost" : `answers of ${status}`;
    this.faults[name] = (this.faults[name] ?? 0) + 1;
    const lane = /^\/dm\/conversations\/(\w+)\/messages$/.exec(path)?.[1];
    if (status === 500 && lane !== undefined) {
      this.#errors.set(lane, (this.#errors.get(lane) ?? 0) + 1);
    }
  }

  /** Outages burn no attempts: a lane has not more of them than events and answers of 500. */
  check(stored: readonly Stored[], lanes: ReadonlyMap<string, string>): string[] {
    const extra = new Map<string, number>();
    for (const { id, attempts } of stored) {
      const lane = lanes.get(id) ?? "";
      extra.set(lane, (extra.get(lane) ?? 0) + attempts - 1);
    }
    return [...extra].flatMap(([lane, more]) => {
      const errors = this.#errors.get(lane) ?? 0;
      if (more <= errors) return [];
      return [
        `outages burned attempts: ${more} retries in ${lane}, and only ${errors} answers of 500`,
      ];
    });
  }
}
