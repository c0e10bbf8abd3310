import { payloads, wireEvent } from "../events/samples.ts";
import { Client, type ClientOptions } from "../faces/client.ts";
import { type Clock, createLogger, systemClock } from "../faces/core.ts";
import { RunEffects } from "../faces/effects.ts";
import { parseEvent } from "../faces/events.ts";
import type { Claim } from "../faces/inbox.ts";
import {
  type Context,
  createContext,
  type EventHandling,
  Handlers,
  PendingTasks,
  type Router,
  routesOf,
} from "../faces/router.ts";
import type { Job, Step, StepEnd, StepRunner } from "../faces/steps.ts";
import { ManualClock, TestPlatform } from "../faces/testing.ts";
import { claimOf } from "../support/inbox-events.ts";

export class FakeSteps implements StepRunner {
  outcome: StepEnd<unknown>["outcome"] = "made";
  readonly ran: Step<unknown>[] = [];

  async run<T>(step: Step<T>): Promise<StepEnd<T>> {
    this.ran.push(step as Step<unknown>);
    return { ...(await step.run()), outcome: this.outcome };
  }
}

export interface TestJob extends Job {
  readonly steps: FakeSteps;
  readonly lines: string[];
}

const emptyInbox = { states: async () => [], timers: async () => [] };

/** Creates a job for an event of this type. `more` overrides fields of the sample payload. */
export function jobFor(
  type: string,
  more: Readonly<Record<string, unknown>> = {},
  rest: Partial<Job> = {},
  claim: Partial<Claim> = {},
): TestJob {
  const base = (payloads as Readonly<Record<string, object>>)[type] ?? {};
  const parsed = parseEvent(wireEvent(type, { ...base, ...more }));
  if (!parsed.ok) throw new Error(parsed.reason);
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const { event } = parsed;
  const whole = claimOf({ id: event.id, type, ...claim });
  return {
    event,
    claim: whole,
    effects: new RunEffects({ event, claim: whole, inbox: emptyInbox, now: () => 0 }),
    log: createLogger({ level: "trace", secrets: [], destination }),
    signal: new AbortController().signal,
    ...rest,
    steps: new FakeSteps(),
    lines,
  };
}

/** Creates a platform on which the bot has the conversations `c_1`, `c_2` and `5`, and some posts exist. */
export function fakePlatform(now: () => number): TestPlatform {
  const timer: Clock["timer"] = (...given) => systemClock.timer(...given);
  const platform = new TestPlatform({ clock: { now, timer } });
  for (const conversationId of ["c_1", "c_2", "5"]) {
    const payload = { ...payloads["dm.message"], conversationId };
    platform.happen({ type: "dm.message", id: conversationId, payload });
  }
  for (const postId of ["p_1", "p_2", "p_7", "p_8", "5"]) {
    const payload = { ...payloads.mention, entityType: "post", entityId: postId, postId };
    platform.happen({ type: "mention", payload });
  }
  return platform;
}

export function fakeClient(options: Partial<ClientOptions> = {}): {
  client: Client;
  platform: TestPlatform;
} {
  const platform = fakePlatform(() => Date.parse("2026-01-02T03:04:05.678Z"));
  const { fetch } = platform;
  return {
    client: new Client({
      retries: 0,
      baseUrl: "http://platform.test",
      apiKey: "key",
      fetch,
      ...options,
    }),
    platform,
  };
}

/** Creates the context of a run of a bot without state and without handlers of its own. */
export function contextFor(job: Job, client: Client): Context {
  const run = { job, client, tasks: new PendingTasks(), prefix: "", stateSchema: undefined };
  return createContext({ ...run, handledTypes: [], onWrite: () => undefined });
}

export function begin(router: Router, job: Job, client: Client): EventHandling {
  const clock = new ManualClock();
  return new Handlers({ routes: routesOf(router), client, clock, loopGuard: false }).begin(job);
}

export async function run(router: Router, job: Job, client: Client): Promise<void> {
  await begin(router, job, client).run();
}
