import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject, onTestFinished } from "vitest";
import type { OpenInbox } from "../../contract/open-inbox.ts";
import { PostgresInbox, type PostgresInboxOptions } from "../../faces/inbox-postgres.ts";

/** A place in the server of this version that nobody else uses. */
export interface Place {
  readonly url: string;
  readonly schema: string;
}

let usual = "18";

/** From now on this is the version that tests of this file run on, where they name none. */
export function usePostgres(version: string): void {
  usual = version;
}

/** Starts the server when it is the first to ask. */
export async function emptyPlace(version: string = usual): Promise<Place> {
  const response = await fetch(`${inject("postgres")}/${version}`);
  const answer = await response.text();
  if (!response.ok) throw new Error(`PostgreSQL ${version} cannot be had: ${answer}`);
  return { url: answer, schema: `test_${randomBytes(8).toString("hex")}` };
}

/** A connection as an operator has it, which is closed when the test has finished. */
export async function sessionAt({ url }: Place): Promise<pg.Client> {
  const client = new pg.Client(url);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** The same place by way of what is in front of its server on this machine. */
export function through(place: Place, { port }: { readonly port: number }): Place {
  const url = new URL(place.url);
  url.port = String(port);
  return { ...place, url: url.href };
}

/** An inbox that is closed when the test has finished. */
export async function openAt(
  place: Place,
  options: Partial<PostgresInboxOptions> = {},
): Promise<PostgresInbox> {
  const inbox = await PostgresInbox.open({ ...place, ...options });
  onTestFinished(() => inbox.close());
  return inbox;
}

/** Empty inboxes in the server of a version, on the clock of the suite. */
export function openPostgres(version: string): OpenInbox {
  return async ({ clock, maxBacklog }) => {
    const place = await emptyPlace(version);
    return await PostgresInbox.open({ ...place, now: () => clock.now(), clock, maxBacklog });
  };
}
