import { cpSync, mkdtempSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { answerTo } from "../bot/behaviours.ts";
import { Poster } from "../driver/poster.ts";
import { World } from "../driver/world.ts";
import type { Random } from "../random.ts";
import { type JournalRecord, readJournal } from "./journal.ts";

export interface RunOptions {
  readonly deliveries: number;
  /** Signals that end the bot's processes under load, one process each. */
  readonly signals: readonly NodeJS.Signals[];
  readonly random: Random;
  readonly scratch: string;
  readonly shim: string;
  /** SQLite sync level below FULL, for the control test. */
  readonly synchronous?: string;
}

export interface Delivery {
  readonly ids: readonly string[];
  readonly body: string;
}

export interface Life {
  readonly records: readonly JournalRecord[];
  readonly ports: ReadonlyMap<number, readonly Delivery[]>;
  readonly answers: number;
  /** Folder with a copy of the files as they were when the process exited. */
  readonly files: string;
}

export interface Journals {
  readonly lives: readonly Life[];
  readonly repliesTo: ReadonlyMap<string, string>;
  readonly violations: readonly string[];
}

const CONNECTIONS = 16;
const MAX_BATCH = 3;

/** Time limit for sending all replies, in ms. A bot that takes longer is stuck. */
const REPLIES_TIMEOUT_MS = 60_000;

/** Runs a bot as several processes under load, one after another, and keeps the journals of their system calls. */
export async function runUnderLoad(options: RunOptions): Promise<Journals> {
  const { synchronous, shim } = options;
  const world = await World.start({
    deliveries: "driver",
    folder: realpathSync(mkdtempSync(join(options.scratch, "inbox-"))),
    settings: { answers: 1, ...(synchronous === undefined ? {} : { synchronous }) },
    // The library cannot intercept calls made through io_uring.
    env: { DELIVERY: "webhook", LD_PRELOAD: shim, UV_USE_IO_URING: "0" },
  });
  try {
    const lives = await runLives(world, options);
    const { written } = world.ledger;
    const repliesTo = new Map(written.map(({ id, text }) => [answerTo(text, 1), id]));
    return { lives, repliesTo, violations: world.violations };
  } finally {
    await world.close();
  }
}

async function runLives(world: World, options: RunOptions): Promise<Life[]> {
  const { deliveries, signals, random, scratch } = options;
  const { store, ledger } = world;
  let queue = writeDeliveries(world, deliveries, random);
  const lives: Life[] = [];
  for (const [n, signal] of [...signals, undefined].entries()) {
    const journal = join(scratch, `journal-${n}`);
    const env = { JOURNAL_FOLDER: store.folder, JOURNAL_FILE: journal };
    const bot = await world.boot({}, 0, env);
    const limit = 1 + random.below(Math.floor(deliveries / (signals.length + 1)));
    const enough = (answers: number) => {
      if (signal !== undefined && answers === limit) bot.kill(signal);
    };
    const sent = await send(`${bot.url}/webhook`, world.platform.webhookSecret, queue, enough);
    queue = sent.left;
    if (signal === undefined) {
      // The last process shuts down gracefully.
      const done = await ledger.waitSaid(ledger.written.length, REPLIES_TIMEOUT_MS);
      if (!done) world.violations.push(`${ledger.said} of ${ledger.written.length} replies`);
      await world.stop(bot);
    } else await bot.end(signal);
    const files = join(scratch, `files-${n}`);
    cpSync(store.folder, files, { recursive: true });
    lives.push({ records: readJournal(journal), ports: sent.ports, answers: sent.answers, files });
  }
  if (queue.length > 0) world.violations.push(`${queue.length} deliveries were never acknowledged`);
  return lives;
}

function writeDeliveries({ ledger, platform }: World, count: number, random: Random): Delivery[] {
  return Array.from({ length: count }, () => {
    const since = ledger.written.at(-1)?.id;
    const size = 1 + random.below(MAX_BATCH);
    for (let i = 0; i < size; i++) ledger.write({ from: `person${random.below(20)}` });
    const events = platform.control.events(since);
    return { ids: events.map(({ id }) => id), body: JSON.stringify({ events }) };
  });
}

async function send(
  url: string,
  secret: string,
  queue: Delivery[],
  onAnswer: (answers: number) => void,
): Promise<{ ports: Map<number, Delivery[]>; answers: number; left: Delivery[] }> {
  const ports = new Map<number, Delivery[]>();
  const poster = new Poster(url, secret, CONNECTIONS);
  const failed: Delivery[] = [];
  let answers = 0;
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const delivery = next;
      const note = (port: number) => ports.set(port, [...(ports.get(port) ?? []), delivery]);
      const status = await poster.post(delivery.body, note).catch(() => undefined);
      if (status !== 200) failed.push(delivery);
      if (status === undefined) return;
      answers += 1;
      onAnswer(answers);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  poster.close();
  return { ports, answers, left: [...failed, ...queue] };
}
