import { ServiceBotError } from "../errors.ts";
import type { InboxAdmin } from "../inbox/admin.ts";
import { type Answer, failure, json, methodNotAllowed, notReady } from "./answer.ts";

/** `/local/v1/inbox/ID`, and a decision about it behind that. */
const PATH = /^\/local\/v1\/inbox\/([^/]+)(?:\/(retry|discard))?$/;

/** Reason that the inbox keeps with an event. */
const REASON = "discarded in the portal of the local platform";

/** An event of the path, and the decision about it. */
export interface InboxRequest {
  readonly id: string;
  readonly decision: "retry" | "discard" | undefined;
}

/** Reads the path of a request of the local platform. `undefined` for any other path. */
export function readInboxPath(path: string): InboxRequest | undefined {
  const [, id, decision] = PATH.exec(path) ?? [];
  if (id === undefined) return undefined;
  return { id: decoded(id), decision: decision as InboxRequest["decision"] };
}

/** Shows an event of the inbox to the local platform, or carries out its decision. */
export async function answerInbox(
  method: string,
  { id, decision }: InboxRequest,
  admin: InboxAdmin,
): Promise<Answer> {
  const allowed = decision === undefined ? "GET" : "POST";
  if (method !== allowed) return methodNotAllowed(allowed);
  try {
    if (decision === "retry") await admin.retry(id);
    if (decision === "discard") await admin.discard(id, REASON);
    const { state, attempts, error, history, steps } = await admin.show(id);
    return json(200, { id, state, attempts, error, history, steps });
  } catch (error) {
    if (!(error instanceof ServiceBotError) || error.code === "STORE_UNAVAILABLE") return notReady;
    return failure(error.code === "EVENT_NOT_FOUND" ? 404 : 409, error.code, error.message);
  }
}

/** Decodes a part of a path. One that is not encoded well is no event's id. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
