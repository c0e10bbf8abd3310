import { loadDatabase } from "../../config.ts";
import { type DatabaseAddress, showDatabase } from "../../core/database-address.ts";
import { pageUrl } from "../../core/manifest.ts";
import { printable } from "../../core/safe-text.ts";
import { ConfigError, messageOf, ServiceBotError } from "../../errors.ts";
import type { InboxReport } from "../../inbox/admin.ts";
import type {
  EphemeralDisk,
  FileHealth,
  InboxProbe,
  ServerHealth,
  StoreHealth,
} from "../../inbox/health.ts";
import type { InstanceReport } from "../../inbox/shared.ts";
import type { AttachedInbox } from "../../inbox/sql/attached.ts";
import { withInbox } from "../inbox/attach.ts";
import { age, bytes, count, quoted } from "../output.ts";
import { codeInError, remedyFor } from "../remedies.ts";
import { type Check, type Finding, findingsOf } from "./finding.ts";

const database = findingsOf("database");
const storage = findingsOf("storage");
const inbox = findingsOf("inbox");

/** Remedies for INBOX_UNUSABLE. The message names the problem, and for PostgreSQL often its remedy, too. */
const unusable = {
  sqlite: "Set DATABASE_URL to a file that the bot can write to.",
  postgres:
    "Correct the server or DATABASE_URL, which must name a running PostgreSQL server that accepts the role.",
} as const;

export const checkInbox: Check = async () => {
  const configured = loadConfigured();
  if (configured === undefined) return [];
  const { database: address, databaseSchema: schema } = configured;
  try {
    return await checkDatabase(address, schema);
  } catch (error) {
    if (!(error instanceof ServiceBotError)) throw error;
    const { code } = error;
    if (code === "INBOX_TOO_OLD") {
      return [database.note(messageOf(error), "Start the bot to migrate the inbox.")];
    }
    const remedy = code === "INBOX_UNUSABLE" ? undefined : remedyFor(code);
    return [database.fail(messageOf(error), remedy ?? unusable[address.kind])];
  }
};

/** Returns `undefined` if the configuration is invalid. The environment check has already reported the problem. */
function loadConfigured(): ReturnType<typeof loadDatabase> | undefined {
  try {
    return loadDatabase(process.env);
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

async function checkDatabase(address: DatabaseAddress, schema: string): Promise<Finding[]> {
  const { ok, note } = database;
  const place = showDatabase(address);
  if (place === ":memory:") {
    return [
      note(
        "the inbox is in memory, so unhandled events are lost when the bot stops",
        "Set DATABASE_URL to a file, such as file:data/bot.db.",
      ),
    ];
  }
  const { exists, served } = await probe(address, schema);
  const disk = await checkDisk(address);
  if (!exists) return [ok(`the bot can create its inbox at ${place}`), ...disk];
  const use = served ? " (in use by a running bot)" : "";
  return [
    ok(`the inbox at ${place} is writable${use}`),
    ...disk,
    ...(await checkStorage(address, schema)),
  ];
}

/** Imports the store on demand, because no other command needs it. */
async function probe(address: DatabaseAddress, schema: string): Promise<InboxProbe> {
  if (address.kind === "postgres") {
    const { probePostgres } = await import("../../inbox/postgres/maintenance.ts");
    return await probePostgres({ url: address.url, schema, timeoutMs: 5_000 });
  }
  const { probeFile } = await import("../../inbox/sqlite/maintenance.ts");
  return probeFile(address.file);
}

async function checkDisk(address: DatabaseAddress): Promise<Finding[]> {
  if (address.kind === "postgres") return [];
  const { ephemeralDiskOf } = await import("../../inbox/sqlite/maintenance.ts");
  return aboutDisk(address.file, ephemeralDiskOf(address.file));
}

export function aboutDisk(place: string, disk: EphemeralDisk | undefined): Finding[] {
  if (disk === undefined) return [];
  const loss = {
    memory: "is in memory (tmpfs), so a restart deletes it",
    container: "is in the container and not in a volume, so every deploy deletes it",
  };
  return [
    database.warn(
      `${place} ${loss[disk]}; the bot would then reply to old events again`,
      `Mount a volume at its folder, or use PostgreSQL: ${pageUrl("deploy/docker")}`,
    ),
  ];
}

/**
 * Free space is reported as low below this multiple of the reserve, because it may be used up before the next check.
 */
const SCARCE = 10;

/** In bytes. SQLite truncates the WAL at 64 MB. At four times that size, a reader must be blocking the truncation. */
const LONG_WAL = 256 * 1024 * 1024;

/** Age at which a pending event needs attention, in ms. */
const OLD_MS = 10 * 60_000;

async function checkStorage(address: DatabaseAddress, schema: string): Promise<Finding[]> {
  try {
    const health = await healthOf(address, schema);
    const place = showDatabase(address);
    const found = health.kind === "file" ? aboutFile(place, health) : aboutServer(health);
    return [...found, ...(await withInbox(checkContents))];
  } catch (error) {
    if (error instanceof ServiceBotError) return [];
    throw error;
  }
}

async function checkContents({ reports, together }: AttachedInbox): Promise<Finding[]> {
  const shared = await together?.();
  return [
    ...aboutInbox(await reports.report(), Date.now()),
    ...(shared === undefined ? [] : aboutInstances(shared.instances)),
  ];
}

async function healthOf(address: DatabaseAddress, schema: string): Promise<StoreHealth> {
  if (address.kind === "postgres") {
    const { healthOfServer } = await import("../../inbox/postgres/maintenance.ts");
    return await healthOfServer({ url: address.url, schema, timeoutMs: 5_000 });
  }
  const { healthOfFile } = await import("../../inbox/sqlite/maintenance.ts");
  return healthOfFile(address.file);
}

export function aboutFile(place: string, health: FileHealth): Finding[] {
  const { ok, note, fail } = storage;
  const { mode, freeBytes, minFreeBytes, walBytes, network, damage } = health;
  const found: Finding[] = [];
  if (damage !== undefined && damage.length > 0) {
    found.push(
      fail(
        `${place} is damaged: ${printable(damage.join("; "))}`,
        `Stop the bot, keep a copy of the file, and restore the last backup: ${pageUrl("operate/backup#restore-a-backup")}`,
      ),
    );
  }
  if (network !== undefined) {
    found.push(
      fail(
        `${place} is on a network file system (${network}), where SQLite's locks are unreliable`,
        `Move the file to a local disk, or use PostgreSQL: ${pageUrl("operate/scaling#moving-to-postgresql")}`,
      ),
    );
  }
  if (process.platform !== "win32" && (mode & 0o077) !== 0) {
    found.push(
      note(
        `${place} holds users' messages, and other users of this machine can read it`,
        `Run \`chmod 600 ${quoted(place)}*\`.`,
      ),
    );
  }
  if (freeBytes !== undefined && freeBytes < SCARCE * minFreeBytes) {
    found.push(
      note(
        `its disk has ${bytes(freeBytes)} free; below ${bytes(minFreeBytes)} the bot refuses new events`,
        "Free space on the disk.",
      ),
    );
  }
  if (walBytes > LONG_WAL) {
    found.push(
      note(
        `its WAL has grown to ${bytes(walBytes)}: another program holds the file open, or the disk is slow`,
        "Close other programs that use the file, such as a sqlite3 shell; lsof lists them.",
      ),
    );
  }
  if (found.length > 0) return found;
  const checked = damage === undefined ? "too large to check" : "intact";
  const free = freeBytes === undefined ? "" : `, disk ${bytes(freeBytes)} free`;
  return [ok(`the file is ${checked}: ${bytes(health.bytes)}, WAL ${bytes(walBytes)}${free}`)];
}

export function aboutServer({ version, longOpen }: ServerHealth): Finding[] {
  const found = longOpen.map(({ pid, application, state, seconds }) =>
    storage.note(
      `${printable(application) || "a program without a name"} has held a transaction open for ${seconds} s (pid ${pid}, ` +
        `${printable(state) || "state unknown"}), so PostgreSQL cannot vacuum`,
      `Unless it is a backup, run SELECT pg_terminate_backend(${pid}).`,
    ),
  );
  const kept = storage.ok(`PostgreSQL ${printable(version)} stores commits durably`);
  return [kept, ...found];
}

/** Number of error codes whose remedies are shown, most frequent first. */
const MAX_CODES = 5;

function aboutErrors(deadByError: InboxReport["deadByError"]): Finding[] {
  const byCode = new Map<string, number>();
  for (const [error, dead] of Object.entries(deadByError)) {
    const code = codeInError(error);
    if (code !== undefined) byCode.set(code, (byCode.get(code) ?? 0) + dead);
  }
  return [...byCode]
    .sort(([, a], [, b]) => b - a)
    .flatMap(([code, dead]) => {
      const remedy = remedyFor(code);
      if (remedy === undefined) return [];
      const list = `npx service-bot inbox list --code ${code}`;
      return [inbox.note(`${count(dead, "dead letter")} with ${code} (\`${list}\`)`, remedy)];
    })
    .slice(0, MAX_CODES);
}

export function aboutInbox(report: InboxReport, now: number): Finding[] {
  const { dead, pending, deadByError, oldestPendingAt, lanes } = report;
  const found: Finding[] = [];
  if (dead > 0) {
    found.push(
      inbox.note(
        `the inbox has ${count(dead, "dead letter")}`,
        "Run `npx service-bot inbox list`, then retry or discard each.",
      ),
    );
    for (const finding of aboutErrors(deadByError)) found.push(finding);
  }
  if (oldestPendingAt !== undefined && now - oldestPendingAt > OLD_MS) {
    const held = lanes.blocked > 0 ? `; ${count(lanes.blocked, "lane")} blocked by a retry` : "";
    found.push(
      inbox.note(
        `pending: ${count(pending, "event")}, the oldest received ${age(oldestPendingAt, now)}${held}`,
        "Check that the bot is running and that the platform responds. Run `npx service-bot inbox list --state pending`.",
      ),
    );
  }
  return found.length > 0
    ? found
    : [inbox.ok(`pending: ${count(pending, "event")}, no dead letters`)];
}

export function aboutInstances(instances: readonly Pick<InstanceReport, "version">[]): Finding[] {
  if (instances.length === 0) return [];
  const versions = [...new Set(instances.map(({ version }) => printable(version)))];
  const running = `running: ${count(instances.length, "instance")}`;
  if (versions.length === 1) return [inbox.ok(`${running}, version ${versions[0]}`)];
  return [
    inbox.note(
      `${running}, versions ${versions.join(" and ")}`,
      `Unless an update is under way, update the other instances: ${pageUrl("operate/upgrading")}`,
    ),
  ];
}
