import { parseJson } from "../core/json.ts";
import { foldUsername } from "../events/lane.ts";

/**
 * Returns whether a user caused an event. A timer belongs to the user whose event set it.
 *
 * @param body the event as JSON, or null if its content was deleted
 * @param user a username, with or without @, or a user id
 */
export function isCausedBy(body: string | null, user: string): boolean {
  const { actor, from }: Fields = payloadOf(body ?? "");
  const { username, userId }: Fields = { ...Object(actor ?? from) };
  if (userId === user) return true;
  return typeof username === "string" && foldUsername(username) === foldUsername(nameOf(user));
}

type Fields = Readonly<Record<string, unknown>>;

function nameOf(user: string): string {
  return user.startsWith("@") ? user.slice(1) : user;
}

function payloadOf(body: string): Fields {
  try {
    const { payload }: Fields = { ...Object(parseJson(body)) };
    return { ...Object(payload) };
  } catch {
    // A dead letter may contain what could not be read as an event.
    return {};
  }
}
