import type { AnyEvent } from "./types.ts";

/** Returns the username of the account that caused an event; `undefined` where the payload names none (section 6). */
export function actorOf(event: AnyEvent): string | undefined {
  // Read by field rather than by type, so that types newer than this version have an actor, too.
  const { actor, from }: Readonly<Record<string, unknown>> = { ...event.payload };
  const { username }: { readonly username?: unknown } = { ...Object(actor ?? from) };
  return typeof username === "string" && username !== "" ? username : undefined;
}

/** Returns the form in which usernames are compared: the document does not show whether case matters, so it does not. */
export function foldUsername(username: string): string {
  return username.toLowerCase();
}
