import { loadDatabase } from "../../config.ts";
import { type DatabaseAddress, showDatabase } from "../../core/database-address.ts";
import { printable } from "../../core/terminal.ts";
import { ServiceBotError } from "../../errors.ts";
import type {
  AttachedInbox,
  FileHealth,
  ServerHealth,
  StoreHealth,
} from "../../inbox/maintenance.ts";
import type { InboxReport } from "../../inbox/records.ts";
import type { InstanceReport } from "../../inbox/shared.ts";
import { attach } from "../inbox/attach.ts";
import { age, bytes, count, quoted } from "../text.ts";
import { type Finding, findingsOf } from "./finding.ts";

const storage = findingsOf("storage");
const inbox = findingsOf("inbox");

/** Room for less than ten times what is kept free may be gone before anybody looks again. */
const SCARCE = 10;

/** The WAL is cut back to 64 MB; one that is four times as long cannot be, in bytes. */
const LONG_WAL = 256 * 1024 * 1024;

/** Older events than this wait for something, in milliseconds. */
const OLD_MS = 10 * 60_000;

/** How are the store and what is in it? For an inbox that is there, and can be used; the database's findings tell the rest. */
export async function examineStorage(): Promise<Finding[]> {
  try {
    const { database, databaseSchema } = loadDatabase(process.env);
    const health = await healthOf(database, databaseSchema);
    const place = showDatabase(database);
    return [
      ...(health.kind === "file" ? aboutFile(place, health) : aboutServer(health)),
      ...(await examineInbox()),
    ];
  } catch (error) {
    if (error instanceof ServiceBotError) return [];
    throw error;
  }
}

/** The stores are loaded late: the other commands need none. */
async function healthOf(database: DatabaseAddress, schema: string): Promise<StoreHealth> {
  if (database.kind === "postgres") {
    const { healthOfServer } = await import("../../inbox/postgres/maintenance.ts");
    return await healthOfServer({ url: database.url, schema, timeoutMs: 5_000 });
  }
  const { healthOfFile } = await import("../../inbox/sqlite/maintenance.ts");
  return healthOfFile(database.file);
}

/** What is in a file may be trouble. */
export function aboutFile(place: string, health: FileHealth): Finding[] {
  const { ok, note, fail } = storage;
  const { mode, freeBytes, minFreeBytes, walBytes, network, damage } = health;
  const found: Finding[] = [];
  if (damage !== undefined && damage.length > 0) {
    found.push(
      fail(
        `${place} is damaged: ${printable(damage.join("; "))}`,
        "Stop the bot, keep a copy of the file, and restore the last backup: docs/backup.md.",
      ),
    );
  }
  if (network !== undefined) {
    found.push(
      fail(
        `${place} is on a network file system (${network}), where its locks and its WAL are not safe`,
        "Move it to a disk of this machine, or use PostgreSQL: docs/scaling.md.",
      ),
    );
  }
  if (process.platform !== "win32" && (mode & 0o077) !== 0) {
    found.push(
      note(
        `other users of this machine can read ${place}, where people's messages are`,
        `chmod 600 ${quoted(place)}, also with -wal and -shm at its end`,
      ),
    );
  }
  if (freeBytes !== undefined && freeBytes < SCARCE * minFreeBytes) {
    found.push(
      note(
        `${bytes(freeBytes)} are free on its disk, and below ${bytes(minFreeBytes)} no new events are taken`,
        "Free some space on its disk.",
      ),
    );
  }
  if (walBytes > LONG_WAL) {
    found.push(
      note(
        `its WAL has ${bytes(walBytes)}: somebody reads from an old state of the file, or the disk is slow`,
        "End whatever else has it open, such as a sqlite3 shell: lsof tells who.",
      ),
    );
  }
  if (found.length > 0) return found;
  const checked = damage === undefined ? "too large to be looked through" : "whole";
  const free = freeBytes === undefined ? "" : `, ${bytes(freeBytes)} free on its disk`;
  return [
    ok(`the file is ${checked}, ${bytes(health.bytes)} and ${bytes(walBytes)} in its WAL${free}`),
  ];
}

/** What others do on the server may be trouble. */
export function aboutServer({ version, longOpen }: ServerHealth): Finding[] {
  const found = longOpen.map(({ pid, application, state, seconds }) =>
    storage.note(
      `a transaction of ${printable(application) || "a program without a name"} is open for ${seconds} s (pid ${pid}, ` +
        `${printable(state) || "state unknown"}): nothing that was deleted since can be cleaned up`,
      `End it: SELECT pg_terminate_backend(${pid}), unless it is a backup under way.`,
    ),
  );
  const kept = storage.ok(
    `PostgreSQL ${printable(version)} keeps what is committed (fsync, synchronous_commit)`,
  );
  return [kept, ...found];
}

/** What waits in the inbox, and for whom. */
async function examineInbox(): Promise<Finding[]> {
  const attached = await attach();
  try {
    return [...aboutInbox(await attached.admin.stats(), Date.now()), ...(await together(attached))];
  } finally {
    await attached.close();
  }
}

/** What a person should look at. */
export function aboutInbox(report: InboxReport, now: number): Finding[] {
  const { dead, pending, oldestPendingAt, lanes } = report;
  const found: Finding[] = [];
  if (dead > 0) {
    found.push(
      inbox.note(
        `a person has to decide about ${count(dead, "dead letter")}`,
        "service-bot inbox list",
      ),
    );
  }
  if (oldestPendingAt !== undefined && now - oldestPendingAt > OLD_MS) {
    const held = lanes.blocked > 0 ? `; ${count(lanes.blocked, "lane")} behind a retry` : "";
    found.push(
      inbox.note(
        `pending: ${count(pending, "event")}, of which the oldest came ${age(oldestPendingAt, now)}${held}`,
        "service-bot inbox list --state pending; is the bot running, and the platform there?",
      ),
    );
  }
  return found.length > 0
    ? found
    : [inbox.ok(`pending: ${count(pending, "event")}, no dead letters`)];
}

async function together({ together }: AttachedInbox): Promise<Finding[]> {
  const shared = await together?.();
  return shared === undefined ? [] : aboutInstances(shared.instances);
}

/** Who works on the inbox together. */
export function aboutInstances(instances: readonly Pick<InstanceReport, "version">[]): Finding[] {
  if (instances.length === 0) return [];
  const versions = [...new Set(instances.map(({ version }) => printable(version)))];
  const running = `running: ${count(instances.length, "instance")}`;
  if (versions.length === 1) return [inbox.ok(`${running}, of version ${versions[0]}`)];
  return [
    inbox.note(
      `${running}, of the versions ${versions.join(" and ")}`,
      "Fine while they are rolled out; else update the rest: docs/upgrading.md.",
    ),
  ];
}
