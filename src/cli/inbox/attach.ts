import { loadDatabase } from "../../config.ts";
import type { AttachedInbox } from "../../inbox/sql/attached.ts";

/**
 * An action of `service-bot inbox`. Parses its arguments first, so that wrong usage is reported before a file is
 * opened. The returned function does the work and resolves with the exit code.
 */
export type Action = (args: readonly string[]) => () => Promise<number>;

/**
 * Opens the inbox at `DATABASE_URL` while `work` runs. Imports the store on demand, because most commands do not need
 * one.
 */
export async function withInbox<T>(work: (inbox: AttachedInbox) => Promise<T>): Promise<T> {
  const inbox = await attach();
  try {
    return await work(inbox);
  } finally {
    await inbox.close();
  }
}

async function attach(): Promise<AttachedInbox> {
  const { database, databaseSchema: schema } = loadDatabase(process.env);
  if (database.kind === "postgres") {
    const { attachPostgres } = await import("../../inbox/postgres/maintenance.ts");
    return await attachPostgres({ url: database.url, schema });
  }
  const { attachInbox } = await import("../../inbox/sqlite/maintenance.ts");
  return attachInbox(database.file);
}
