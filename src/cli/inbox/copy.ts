import { loadDatabase } from "../../config.ts";
import {
  type DatabaseAddress,
  databaseProblem,
  readDatabase,
} from "../../core/database-address.ts";
import { copyInbox, differenceError, isDifferent, obstacleTo } from "../../inbox/copy/copy.ts";
import type { CopySource, CopyTarget } from "../../inbox/copy/stores.ts";
import { tables } from "../../inbox/copy/tables.ts";
import { variable } from "../dot-env.ts";
import { print, printJson } from "../output.ts";
import { grouped, table } from "../text.ts";
import { type Arguments, readArguments, textFlag, UsageError } from "../usage.ts";
import { jsonFlag } from "./action.ts";
import { copiedText } from "./copy-text.ts";
import { progressOn } from "./progress.ts";

const flags = {
  ...jsonFlag,
  from: { type: "string" },
  to: { type: "string" },
  "dry-run": { type: "boolean" },
  reopen: { type: "boolean" },
} as const;

/** Copies an inbox whole into another place. Arguments are read first; what is returned does the work. */
export function copy(args: readonly string[]): () => Promise<number> {
  const given = readArguments(args, flags, { max: 0 });
  const from = addressIn(given, "from");
  const to = addressIn(given, "to");
  if (given.flags.reopen) {
    if (to !== undefined || given.flags["dry-run"]) {
      throw new UsageError("--reopen goes with --from alone.");
    }
    return () => withSource(from, (source) => reopen(source, given));
  }
  if (from === undefined && to === undefined) {
    throw new UsageError("Say --from or --to, or both; what is left out is DATABASE_URL.");
  }
  return () =>
    withSource(from, async (source) => {
      const target = await openTarget(to ?? targetInEnvironment());
      try {
        if (source.place === target.place) {
          throw new UsageError(`${source.place} cannot be copied into itself.`);
        }
        return await (given.flags["dry-run"] ? look : carryOut)(source, target, given);
      } finally {
        await target.close();
      }
    });
}

async function carryOut(
  source: CopySource,
  target: CopyTarget,
  { flags }: Arguments,
): Promise<number> {
  const { json } = flags;
  const began = performance.now();
  const progress = progressOn(flags);
  const report = await copyInbox(source, target, ({ doing, table: name, rows, of }) =>
    progress.show(`${doing} ${name}`, rows, of),
  ).finally(progress.end);
  const verified = !report.tables.some(isDifferent);
  const ms = Math.round(performance.now() - began);
  if (json) printJson({ ...report, verified, ms });
  else print(copiedText(report, ms));
  if (!verified) throw differenceError(report);
  return 0;
}

async function look(
  source: CopySource,
  target: CopyTarget,
  { flags: { json } }: Arguments,
): Promise<number> {
  const obstacle = await obstacleTo(source, target);
  if (obstacle !== undefined) throw obstacle;
  const counts: Record<string, number> = {};
  for (const one of tables) counts[one.name] = await source.count(one);
  if (json) {
    printJson({ from: source.place, to: target.place, rows: counts });
    return 0;
  }
  const rows = Object.entries(counts).map(([name, n]) => [name, grouped(n)]);
  print(table(["TABLE", "ROWS"], rows));
  print(`\n${source.place} can be copied to ${target.place}; nothing was changed`);
  return 0;
}

async function reopen(source: CopySource, { flags: { json } }: Arguments): Promise<number> {
  const changed = await source.reopen();
  if (json) printJson({ place: source.place, reopened: changed });
  else print(changed ? `${source.place} can be used again` : `${source.place} was not copied`);
  return 0;
}

async function withSource(
  address: DatabaseAddress | undefined,
  work: (source: CopySource) => Promise<number>,
): Promise<number> {
  const source = await openSource(address ?? loadDatabase(process.env).database);
  try {
    return await work(source);
  } finally {
    await source.close();
  }
}

async function openSource(address: DatabaseAddress): Promise<CopySource> {
  if (address.kind === "postgres") {
    const { openPostgresSource } = await import("../../inbox/postgres/copy-source.ts");
    return await openPostgresSource({ url: address.url, schema: schema() });
  }
  const { openSqliteSource } = await import("../../inbox/sqlite/copy-source.ts");
  return openSqliteSource(address.file);
}

async function openTarget(address: DatabaseAddress): Promise<CopyTarget> {
  if (address.kind === "postgres") {
    const { openPostgresTarget } = await import("../../inbox/postgres/copy-target.ts");
    return await openPostgresTarget({ url: address.url, schema: schema() });
  }
  const { openSqliteTarget } = await import("../../inbox/sqlite/copy-target.ts");
  return openSqliteTarget(address.file);
}

function addressIn(given: Arguments, name: "from" | "to"): DatabaseAddress | undefined {
  const text = textFlag(given, name);
  if (text === undefined) return undefined;
  const problem = databaseProblem(text);
  if (problem !== undefined) throw new UsageError(`--${name} ${problem}.`);
  const address = readDatabase(text);
  if (address.kind === "sqlite" && address.file === ":memory:") {
    throw new UsageError(`--${name} names an inbox in memory, which no other process can use.`);
  }
  return address;
}

/** The default would be the file that is most likely the source. */
function targetInEnvironment(): DatabaseAddress {
  if (variable("DATABASE_URL") === undefined) {
    throw new UsageError("--to is missing, and DATABASE_URL is not set.");
  }
  return loadDatabase(process.env).database;
}

function schema(): string {
  return loadDatabase({ DATABASE_SCHEMA: process.env["DATABASE_SCHEMA"] }).databaseSchema;
}
