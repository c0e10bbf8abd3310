import type { Observed } from "../driver/checker.ts";
import { type Attack, onOneBot, type Stage, writers } from "../driver/fault.ts";
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
    stage.world.platform.control.setFaults({ api: { mode: "mix", rate: RATE } });
    await stage.world.boot();
    return failCalls(stage);
  },
});

function failCalls(stage: Stage): Attack {
  const { world, random, size } = stage;
  const write = writers(stage, PEOPLE, () => (random.chance(0.2) ? "twins" : "answer"));
  const figures: Record<string, number> = { calls: 0 };
  /** Number of 500 responses per lane. A 500 counts as an attempt, because the request itself may have caused it. */
  const errors = new Map<string, number>();
  world.platform.onTimeline((entry) => {
    if (entry.kind !== "api") return;
    const { path, status, fault } = entry;
    const name = fault === "lose-answer" ? "answers lost" : `answers of ${status}`;
    for (const counted of fault === undefined ? ["calls"] : ["calls", name]) {
      figures[counted] = (figures[counted] ?? 0) + 1;
    }
    const lane = /^\/dm\/conversations\/(\w+)\/messages$/.exec(path)?.[1];
    if (fault === undefined || status !== 500 || lane === undefined) return;
    errors.set(lane, (errors.get(lane) ?? 0) + 1);
  });
  return {
    async once() {
      write(SLICE[size]);
      await world.settle();
    },
    judge(observed) {
      const worst = Math.max(...observed.stored.map(({ attempts }) => attempts));
      return {
        figures: { ...figures, "attempts per event, worst": worst },
        violations: retriesBeyond(errors, observed),
      };
    },
  };
}

/** An outage uses up no attempts, so a lane has no more retries than 500 responses. */
function retriesBeyond(
  errors: ReadonlyMap<string, number>,
  { stored, written }: Observed,
): readonly string[] {
  const rows = new Map(stored.map((row) => [row.id, row.attempts - 1]));
  return [...Map.groupBy(written, ({ lane }) => lane)].flatMap(([lane, events]) => {
    const retries = events.reduce((sum, { id }) => sum + (rows.get(id) ?? 0), 0);
    const allowed = errors.get(lane) ?? 0;
    if (retries <= allowed) return [];
    return [
      `outages used up attempts: ${retries} retries in ${lane}, only ${allowed} responses of 500`,
    ];
  });
}
