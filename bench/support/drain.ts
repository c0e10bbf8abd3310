import { steadyClock } from "../../src/core/clock.ts";
import { createLogger } from "../../src/core/logger.ts";
import { Dispatcher } from "../../src/dispatcher/loop.ts";
import type { Inbox } from "../../src/inbox/inbox.ts";
import { logFacts } from "../../src/observe/log.ts";

export interface DrainOptions {
  readonly concurrency: number;
  readonly onBegin?: () => void;
}

const clock = steadyClock();
const log = createLogger({ level: "silent", secrets: [] });

/** Publisher on the diagnostics channels. A real bot always logs, so the channels have a subscriber here as well. */
const bot = {};
logFacts(bot, log);

/** Handles every waiting event in an inbox with a no-op handler. Resolves once every outcome is in the database. */
export async function drainInbox(inbox: Inbox, options: DrainOptions): Promise<void> {
  const { concurrency, onBegin } = options;
  let handled = 0;
  const handle = (): Promise<void> => {
    if (handled === 0) onBegin?.();
    handled += 1;
    return Promise.resolve();
  };
  const run = {
    prepare: () => undefined,
    run: handle,
    failed: () => Promise.resolve(),
    boundary: () => undefined,
    skipped: undefined,
  };
  const dispatcher = new Dispatcher({
    inbox,
    clock,
    log,
    bot,
    handler: { begin: () => run },
    concurrency,
    maxAttempts: 8,
    handlerTimeoutMs: 60_000,
    backoff: { baseMs: 1_000, maxMs: 300_000, factor: 2 },
    random: Math.random,
    leaseMs: 30_000,
    retention: { bodiesMs: Infinity, idsMs: Infinity, deadLettersMs: Infinity },
    scrub: (text) => text,
    types: { handledTypes: [], handlesOtherTypes: false, optionsFor: () => ({}) },
  });
  dispatcher.start();
  await dispatcher.idle();
  await dispatcher.drain(0);
}
