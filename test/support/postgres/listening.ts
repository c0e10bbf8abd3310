import { PROCESSES } from "../../faces/inbox-postgres.ts";
import { connected } from "./look.ts";
import type { Place } from "./open.ts";

/** Resolves once this many processes are listening for notifications. Each of them holds the presence lock. */
export async function listening(place: Place, processes: number): Promise<void> {
  await connected(place, async (client) => {
    for (let heard = 0; heard < processes; ) {
      const { rows } = await client.query(PROCESSES, [place.schema]);
      heard = Number(rows[0]?.n);
    }
  });
}
