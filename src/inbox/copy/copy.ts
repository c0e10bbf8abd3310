import { ServiceBotError } from "../../errors.ts";
import { Checksum } from "./checksum.ts";
import { moved } from "./mark.ts";
import type { CopySource, CopyStore, CopyTarget } from "./stores.ts";
import { type Row, type Table, tables } from "./tables.ts";

export interface CopyProgress {
  readonly doing: "copying" | "comparing";
  readonly table: string;
  /** How many rows are done, of how many. */
  readonly rows: number;
  readonly of: number;
}

export interface CopiedTable {
  readonly name: string;
  readonly rows: number;
  /** Of the rows that were read, in hexadecimal digits. */
  readonly checksum: string;
  /** What the target has instead, where that is something else. */
  readonly instead: { readonly rows: number; readonly checksum: string } | undefined;
}

export interface CopyReport {
  readonly from: string;
  readonly to: string;
  /** By how much all times were moved, as the two clocks differ, in milliseconds. */
  readonly clockMovedMs: number;
  readonly tables: readonly CopiedTable[];
}

/** Clocks that are this near to each other count as one, in milliseconds: times then stay what they are. */
const SAME_CLOCK_MS = 1_000;

/**
 * Copies an inbox whole, and compares the copy with what was read. Until then the target is marked, and no
 * bot starts on it; from then on the source is. Whenever it ends halfway, it can be run again.
 *
 * @returns with differences in it, the target is still marked as unfinished
 * @throws {ServiceBotError} INBOX_IN_USE, INBOX_MOVED, INBOX_NOT_EMPTY, INBOX_UNFINISHED, STORE_UNAVAILABLE
 */
export async function copyInbox(
  source: CopySource,
  target: CopyTarget,
  onProgress: (progress: CopyProgress) => void = () => undefined,
): Promise<CopyReport> {
  const obstacle = await obstacleTo(source, target);
  if (obstacle !== undefined) throw obstacle;
  await source.hold(target.place);
  let left = false;
  try {
    await target.begin(source.place);
    const clockMovedMs = await clockDifference(source, target);
    const sums = new Map<Table, Checksum>();
    for (const table of tables) {
      sums.set(table, await copyTable(source, target, table, clockMovedMs, onProgress));
    }
    const compared: CopiedTable[] = [];
    for (const [table, sum] of sums) compared.push(await compare(target, table, sum, onProgress));
    if (!compared.some(isDifferent)) {
      // In this order: between the two there is no inbox on which a bot starts, rather than two.
      left = true;
      await source.leave(target.place);
      await target.finish();
    }
    return { from: source.place, to: target.place, clockMovedMs, tables: compared };
  } finally {
    // Where that fails the source keeps its mark, which names the remedy.
    if (!left) await source.release().catch(() => undefined);
  }
}

/** Why nothing can be copied; undefined when it can. Changes nothing. */
export async function obstacleTo(
  source: CopySource,
  target: CopyTarget,
): Promise<Error | undefined> {
  const before = await source.movedTo();
  // A copy that ended just before its last step is finished by another one.
  const goesOn = before === target.place && (await target.unfinished());
  if (before !== undefined && !goesOn) return moved(source.place, before);
  return await target.obstacle(source.place);
}

export function isDifferent({ instead }: CopiedTable): boolean {
  return instead !== undefined;
}

/** What to say of a copy that is not what was copied. */
export function differenceError({ from, to, tables: compared }: CopyReport): ServiceBotError {
  const names = compared.filter(isDifferent).map(({ name }) => name);
  return new ServiceBotError(
    "INBOX_DIFFERS",
    `${to} is not what was copied from ${from}: ${names.join(", ")}. Something else has written there, or ` +
      "changes what is written. No bot starts on it. Find out what it is (triggers, rules, another " +
      "program), and copy again; the bot can go on where it was meanwhile.",
  );
}

async function clockDifference(source: CopyStore, target: CopyStore): Promise<number> {
  const difference = (await target.now()) - (await source.now());
  return Math.abs(difference) < SAME_CLOCK_MS ? 0 : difference;
}

async function copyTable(
  source: CopySource,
  target: CopyTarget,
  table: Table,
  byMs: number,
  onProgress: (progress: CopyProgress) => void,
): Promise<Checksum> {
  const sum = new Checksum();
  const of = await source.count(table);
  for await (const read of source.read(table)) {
    const rows = moveTimes(table, read, byMs);
    sum.add(rows);
    await target.write(table, rows);
    onProgress({ doing: "copying", table: table.name, rows: sum.rows, of });
  }
  return sum;
}

/** A wait that is left, and the age of a step, are the same on the other clock then. */
function moveTimes({ columns }: Table, rows: readonly Row[], byMs: number): readonly Row[] {
  if (byMs === 0) return rows;
  return rows.map((row) =>
    row.map((cell, index) =>
      columns[index]?.type === "time" && typeof cell === "number" && cell > 0 ? cell + byMs : cell,
    ),
  );
}

async function compare(
  target: CopyTarget,
  table: Table,
  expected: Checksum,
  onProgress: (progress: CopyProgress) => void,
): Promise<CopiedTable> {
  const sum = new Checksum();
  for await (const rows of target.read(table)) {
    sum.add(rows);
    onProgress({ doing: "comparing", table: table.name, rows: sum.rows, of: expected.rows });
  }
  const checksum = String(expected);
  const same = sum.rows === expected.rows && String(sum) === checksum;
  const instead = same ? undefined : { rows: sum.rows, checksum: String(sum) };
  return { name: table.name, rows: expected.rows, checksum, instead };
}
