import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../random.ts";
import { sum } from "../report.ts";
import { Disk } from "./disk.ts";
import { examine } from "./examine.ts";
import type { JournalRecord } from "./journal.ts";
import type { Delivery, Journals, Life } from "./run.ts";

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
  /** Number of responses and requests sent before an inbox write was synced. */
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
    for (const [index, record] of life.records.entries()) {
      if (index === life.records.length - 1 && !happened(disk, record, life.files)) break;
      disk.apply(record);
      found.records += 1;
      if (record.kind === "sync") found.syncs += 1;
      const delivery = record.kind === "answer" ? nextOf(life, record.port, answered) : undefined;
      if (delivery !== undefined && is2xx(record)) {
        acknowledged.push(delivery);
        found.answers += 1;
      } else if (record.kind === "request") {
        requested.push(findAnswered(record.text, repliesTo));
        found.requests += 1;
      }
      if (goesOut(record) && disk.unsynced().some(holdsEvents)) found.early += 1;
      if (!cuts.has(found.records - 1)) continue;
      found.cuts += 1;
      const image = disk.afterPowerLoss(random);
      const { lost, wrong } = await examine(image, { acknowledged, requested, sent }, scratch);
      found.lost += lost;
      const where = `power lost in life ${n} after record ${index} (${record.kind})`;
      violations.push(...wrong.map((what) => `${where}: ${what}`));
    }
    if (sum(answered.values()) < life.answers) violations.push(`life ${n}: answers are missing`);
    violations.push(...unexplained(disk, life.files).map((what) => `life ${n}: ${what}`));
  }
  return { ...found, violations };
}

function is2xx(record: JournalRecord): boolean {
  return record.kind === "answer" && record.status >= 200 && record.status < 300;
}

/** Returns true for a message to the outside. The data it depends on must already be on disk. */
function goesOut(record: JournalRecord): boolean {
  return is2xx(record) || record.kind === "request";
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

/** Returns false if the process was killed between a record and the call it announces. */
function happened(disk: Disk, record: JournalRecord, files: string): boolean {
  switch (record.kind) {
    case "write":
    case "truncate":
    case "unlink":
    case "rename":
      return unexplained(disk, files).length > 0;
    default:
      return true;
  }
}

/** Compares the real files with those rebuilt from the journal, to detect calls missing from the journal. */
function unexplained(disk: Disk, files: string): string[] {
  const expected = new Map([...disk.current()].filter(([name]) => !isIndex(name)));
  const there = readdirSync(files).filter((name) => !isIndex(name));
  const names = new Set([...expected.keys(), ...there]);
  return [...names]
    .filter((name) => {
      const file = join(files, name);
      const real = existsSync(file) ? readFileSync(file) : undefined;
      return real === undefined || expected.get(name)?.equals(real) !== true;
    })
    .map((name) => `the journal does not explain the contents of ${name}`);
}

/** The WAL index and the lock file hold no events. */
function holdsEvents(name: string): boolean {
  return !isIndex(name) && !name.includes("-lock");
}

/** SQLite rebuilds the WAL index on restart. */
function isIndex(name: string): boolean {
  return name.endsWith("-shm");
}
