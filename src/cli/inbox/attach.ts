import { loadDatabase } from "../../config.ts";
import type { AttachedInbox } from "../../inbox/maintenance.ts";

/** Opens the inbox of `DATABASE_URL`. The stores are loaded late: the other commands need none. */
export async function attach(): Promise<AttachedInbox> {
  const { database, databaseSchema: schema } = loadDatabase(process.env);
  if (database.kind === "postgres") {
    const { attachPostgres } = await import("../../inbox/postgres/maintenance.ts");
    return await attachPostgres({ url: database.url, schema });
  }
  const { attachInbox } = await import("../../inbox/sqlite/maintenance.ts");
  return attachInbox(database.file);
}
