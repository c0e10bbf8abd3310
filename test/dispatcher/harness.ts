import { onTestFinished } from "vitest";
import {
  Dispatcher,
  type DispatcherOptions,
  type HandledTypes,
  type HandlerRun,
} from "../faces/dispatcher.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import type { Job } from "../faces/steps.ts";
import { ManualClock } from "../faces/testing.ts";
import { loggedSender } from "../support/channels.ts";
import { logSink } from "../support/log.ts";

export type Handle = (job: Job) => Promise<unknown> | unknown;

export interface Harness {
  readonly inbox: SqliteInbox;
  readonly clock: ManualClock;
  readonly dispatcher: Dispatcher;
  readonly log: ReturnType<typeof logSink>;
  /** Arguments of each `failed` call, in order. */
  readonly failures: unknown[];
}

/** Makes every wait half of its upper bound, so that there is no jitter. */
const half = () => 0.5;

export function harness(
  handle: Handle,
  {
    optionsFor = () => ({}),
    handledTypes = [],
    failed,
    boundary = () => undefined,
    ...options
  }: Partial<DispatcherOptions & HandledTypes & Pick<HandlerRun, "failed" | "boundary">> = {},
): Harness {
  const given = options.clock;
  const clock = given instanceof ManualClock ? given : new ManualClock(1_800_000_000_000);
  const inbox = new SqliteInbox({ file: ":memory:", clock });
  const log = logSink();
  const failures: unknown[] = [];
  const note = async (error: unknown) => void failures.push(error);
  const dispatcher = new Dispatcher({
    inbox,
    clock,
    log: log.log,
    bot: loggedSender(log.log),
    handler: {
      begin: (job) => ({
        prepare: () => undefined,
        run: async () => void (await handle(job)),
        failed: failed ?? note,
        boundary,
        skipped: undefined,
      }),
    },
    types: { optionsFor, handledTypes, handlesOtherTypes: false },
    concurrency: 4,
    maxAttempts: 3,
    handlerTimeoutMs: 60_000,
    backoff: { baseMs: 1_000, maxMs: 10_000, factor: 2 },
    random: half,
    leaseMs: 30_000,
    retention: { bodiesMs: Infinity, idsMs: Infinity, deadLettersMs: Infinity },
    scrub: (text) => text,
    ...options,
  });
  // Start in a microtask, so that tests can wrap the inbox's methods first.
  queueMicrotask(() => dispatcher.start());
  onTestFinished(async () => {
    await stop(dispatcher, clock);
    await inbox.close();
    await options.inbox?.close();
  });
  return { inbox, clock, dispatcher, log, failures };
}

/** Drains with a manual clock, which moves past the grace period of handlers that hang. */
export async function stop(dispatcher: Dispatcher, clock: ManualClock): Promise<void> {
  const drained = dispatcher.drain(10);
  await clock.advance(10);
  // Let an aborted handler's grace period pass.
  await clock.advance(1_000);
  await drained;
}

/** Code waits at `pass()` until the test calls `open()`. `entered` resolves when code starts to wait. */
export function gate(): {
  readonly open: () => void;
  readonly entered: Promise<void>;
  readonly pass: () => Promise<void>;
} {
  const opened = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  return {
    open: opened.resolve,
    entered: entered.promise,
    pass: () => {
      entered.resolve();
      return opened.promise;
    },
  };
}
