import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../random.ts";
import { sum } from "../report.ts";
import { Disk } from "./disk.ts";
import { examine, type Known } from "./examine.ts";
import type { JournalRecord } from "./journal.ts";
import type { Delivery, Journals, Life } from "./run.ts";

type WriteRecord = Extract<JournalRecord, { readonly kind: "write" }>;

export interface CutOptions {
  readonly cuts: number;
  readonly random: Random;
  readonly scratch: string;
}

export interface Findings {
  readonly records: number;
  readonly syncs: number;
  readonly answers: number;
  readonly requests: number;
  readonly cuts: number;
  /** Number of responses and requests sent before their events or intents were synced. */
  readonly early: number;
  readonly lost: number;
  readonly violations: readonly string[];
}

export async function cutPower(
  { lives, repliesTo, violations: seen }: Journals,
  options: CutOptions,
): Promise<Findings> {
  const { random, scratch } = options;
  const total = sum(lives.map(({ records }) => records.length));
  const cuts = new Set<number>();
  while (cuts.size < Math.min(options.cuts, total)) cuts.add(random.below(total));
  const sent = lives.flatMap(({ ports }) => [...ports.values()].flat());
  const disk = new Disk();
  const acknowledged: Delivery[] = [];
  const requested: string[] = [];
  const found = { records: 0, syncs: 0, answers: 0, requests: 0, cuts: 0, early: 0, lost: 0 };
  const violations: string[] = [...seen];
  for (const [n, life] of lives.entries()) {
    const answered = new Map<number, number>();
    for (const [index, recorded] of life.records.entries()) {
      const isLast = index === life.records.length - 1;
      const record = isLast ? whatHappened(disk, recorded, life.files) : recorded;
      if (record === undefined) break;
      disk.apply(record);
      found.records += 1;
      if (record.kind === "sync") found.syncs += 1;
      const delivery = record.kind === "answer" ? nextOf(life, record.port, answered) : undefined;
      const out: Known = { acknowledged: [], requested: [], sent: [] };
      if (delivery !== undefined && is2xx(record)) out.acknowledged.push(delivery);
      if (record.kind === "request") out.requested.push(findAnswered(record.text, repliesTo));
      acknowledged.push(...out.acknowledged);
      requested.push(...out.requested);
      found.answers += out.acknowledged.length;
      found.requests += out.requested.length;
      if (await isEarly(disk, out, scratch)) found.early += 1;
      if (!cuts.has(found.records - 1)) continue;
      found.cuts += 1;
      const image = disk.afterPowerLoss(random);
      const { lost, wrong } = await examine(image, { acknowledged, requested, sent }, scratch);
      found.lost += lost;
      const where = `power lost in life ${n} after record ${index} (${record.kind})`;
      violations.push(...wrong.map((what) => `${where}: ${what}`));
    }
    if (sum(answered.values()) < life.answers) violations.push(`life ${n}: answers are missing`);
    for (const name of unexplained(disk, life.files)) {
      violations.push(`life ${n}: the journal does not explain the contents of ${name}`);
    }
  }
  return { ...found, violations };
}

function is2xx(record: JournalRecord): boolean {
  return record.kind === "answer" && record.status >= 200 && record.status < 300;
}

/** Returns whether a power loss could undo what a message to the outside depends on. */
async function isEarly(disk: Disk, out: Known, scratch: string): Promise<boolean> {
  if (out.acknowledged.length + out.requested.length === 0) return false;
  if (!disk.unsynced().some(holdsEvents)) return false;
  const { wrong } = await examine(disk.synced(), out, scratch);
  return wrong.length > 0;
}

function findAnswered(request: string, repliesTo: Journals["repliesTo"]): string {
  const [, text = ""] = /"text":"([^"]+)"/.exec(request) ?? [];
  const id = repliesTo.get(text);
  if (id === undefined) throw new Error("the journal has a request that is not a reply");
  return id;
}

/** Finds the delivery that a response belongs to. Responses on one connection come in the order of its deliveries. */
function nextOf(life: Life, port: number, answered: Map<number, number>): Delivery {
  const n = answered.get(port) ?? 0;
  answered.set(port, n + 1);
  const delivery = life.ports.get(port)?.[n];
  if (delivery === undefined) throw new Error(`answer ${n} to port ${port} has no delivery`);
  return delivery;
}

/**
 * Returns the part of the last call that happened. A signal that kills the process may come before the call, or between
 * two memory pages of a write.
 */
function whatHappened(disk: Disk, record: JournalRecord, files: string): JournalRecord | undefined {
  switch (record.kind) {
    case "truncate":
    case "unlink":
    case "rename":
      return unexplained(disk, files).length > 0 ? record : undefined;
    case "write": {
      const written = unexplained(disk, files).map((name) =>
        lengthWritten(record, join(files, name)),
      );
      const length = Math.max(0, ...written);
      return length > 0 ? { ...record, data: record.data.subarray(0, length) } : undefined;
    }
    default:
      return record;
  }
}

function lengthWritten({ offset, data }: WriteRecord, file: string): number {
  if (!existsSync(file)) return 0;
  const real = readFileSync(file).subarray(offset, offset + data.length);
  const end = data.findIndex((byte, nth) => byte !== real[nth]);
  return end < 0 ? data.length : end;
}

/** Returns the files that differ from those rebuilt from the journal, because the journal lacks a call. */
function unexplained(disk: Disk, files: string): string[] {
  const expected = new Map([...disk.current()].filter(([name]) => !isIndex(name)));
  const there = readdirSync(files).filter((name) => !isIndex(name));
  const names = new Set([...expected.keys(), ...there]);
  return [...names].filter((name) => {
    const file = join(files, name);
    const real = existsSync(file) ? readFileSync(file) : undefined;
    return real === undefined || expected.get(name)?.equals(real) !== true;
  });
}

/** The WAL index, the lock file and the holder's record hold no events. */
function holdsEvents(name: string): boolean {
  return !isIndex(name) && !/-lock|-holder/.test(name);
}

/** SQLite rebuilds the WAL index on restart. */
function isIndex(name: string): boolean {
  return name.endsWith("-shm");
}
