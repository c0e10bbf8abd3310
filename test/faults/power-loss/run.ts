import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../random.ts";
import { type JournalRecord, readJournal } from "./journal.ts";
import { type LifeOptions, live } from "./life.ts";
import { type SmallPlatform, startSmallPlatform } from "./platform.ts";
import { type Delivery, Sender } from "./sender.ts";

export interface RunOptions {
  readonly deliveries: number;
  /** What ends the process in the middle of its load, one time after the other. */
  readonly signals: readonly NodeJS.Signals[];
  readonly random: Random;
  /** A folder for everything that is written. */
  readonly scratch: string;
  readonly shim: string;
  readonly synchronous?: string;
}

/** What one process of the bot did. */
export interface Life {
  readonly records: readonly JournalRecord[];
  /** The deliveries by the port they came from, in order. */
  readonly ports: ReadonlyMap<number, readonly Delivery[]>;
  /** How many answers came. */
  readonly answers: number;
  /** A copy of the files as the kernel had them when the process had ended. */
  readonly files: string;
}

/** Drives a bot through several lives under load and keeps what the kernel was told. */
export async function runUnderLoad(options: RunOptions): Promise<Life[]> {
  const platform = await startSmallPlatform();
  try {
    return await runLives(options, platform);
  } finally {
    platform.close();
  }
}

async function runLives(options: RunOptions, platform: SmallPlatform): Promise<Life[]> {
  const { deliveries, signals, random, shim, synchronous } = options;
  const scratch = realpathSync(mkdtempSync(join(options.scratch, "run-")));
  const folder = join(scratch, "inbox");
  mkdirSync(folder);
  const secret = `whsec_${"power".repeat(4)}`;
  const sender = new Sender(secret, deliveries, random);
  const lives: Life[] = [];
  // The last process gets what is left and is stopped in peace.
  for (const [n, signal] of [...signals, undefined].entries()) {
    const journal = join(scratch, `journal-${n}`);
    const each = Math.floor(deliveries / (signals.length + 1));
    const end = signal && { signal, after: 1 + random.below(each) };
    const life: LifeOptions = { folder, journal, shim, secret, platform, replies: deliveries };
    await live(sender, synchronous === undefined ? life : { ...life, synchronous }, end);
    const files = join(scratch, `files-${n}`);
    copyFolder(folder, files);
    const ports = sender.lives[n] ?? new Map();
    lives.push({ records: readJournal(journal), ports, answers: sender.answers[n] ?? 0, files });
  }
  if (sender.left > 0) throw new Error(`${sender.left} deliveries were never acknowledged`);
  rmSync(folder, { recursive: true });
  return lives;
}

function copyFolder(from: string, to: string): void {
  mkdirSync(to);
  for (const name of readdirSync(from)) copyFileSync(join(from, name), join(to, name));
}
