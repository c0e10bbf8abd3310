import { PROCESSES } from "../../faces/inbox-postgres.ts";
import { connected } from "./look.ts";
import type { Place } from "./open.ts";

/** Resolves once at least this many processes are listening for notifications. Each of them holds the presence lock. */
export async function listening(place: Place, processes: number): Promise<void> {
  await untilCount(place, (listeners) => listeners >= processes);
}

/** Resolves once at most this many processes are listening. */
export async function gone(place: Place, left: number): Promise<void> {
  await untilCount(place, (listeners) => listeners <= left);
}

async function untilCount(place: Place, fits: (listeners: number) => boolean): Promise<void> {
  await connected(place, async (client) => {
    for (let listeners: number | undefined; listeners === undefined || !fits(listeners); ) {
      const { rows } = await client.query(PROCESSES, [place.schema]);
      listeners = Number(rows[0]?.n);
    }
  });
}
