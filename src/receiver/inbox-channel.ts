import { ServiceBotError } from "../errors.ts";
import type { InboxAdmin } from "../inbox/admin.ts";
import { type Answer, failure, json, methodNotAllowed, notReady } from "./answer.ts";

/** `/local/v1/inbox`; `/local/v1/inbox/ID`, and a decision about it behind that. */
const PATH = /^\/local\/v1\/inbox(?:\/([^/]+)(?:\/(retry|discard))?)?$/;

/** States and timers of one answer, each. */
const MAX_ITEMS = 50;

/** Reason that the inbox keeps with an event. */
const REASON = "discarded in the portal of the local platform";

/** An event of the path, and the decision about it. */
export interface InboxRequest {
  /** `undefined` for the states and timers of the inbox. */
  readonly id: string | undefined;
  readonly decision: "retry" | "discard" | undefined;
}

/** Reads the path of a request of the local platform. `undefined` for any other path. */
export function readInboxPath(path: string): InboxRequest | undefined {
  const found = PATH.exec(path);
  if (found === null) return undefined;
  const [, id, decision] = found;
  return { id: id && decoded(id), decision: decision as InboxRequest["decision"] };
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
    if (id === undefined) return json(200, await keptIn(admin));
    if (decision === "retry") await admin.retry(id);
    if (decision === "discard") await admin.discard(id, REASON);
    const { state, attempts, error, history, steps } = await admin.show(id);
    return json(200, { id, state, attempts, error, history, steps });
  } catch (error) {
    if (!(error instanceof ServiceBotError) || error.code === "STORE_UNAVAILABLE") return notReady;
    return failure(error.code === "EVENT_NOT_FOUND" ? 404 : 409, error.code, error.message);
  }
}

/** States with their values, and timers: the first of each. */
async function keptIn(admin: InboxAdmin): Promise<object> {
  const { states } = await admin.states({ limit: MAX_ITEMS });
  const values = await Promise.all(states.map(({ key }) => admin.state(key)));
  const { timers } = await admin.timers({ limit: MAX_ITEMS });
  return {
    states: values.flatMap((state) => {
      return state === undefined ? [] : [{ ...state, updatedAt: isoTime(state.updatedAt) }];
    }),
    timers: timers.map(({ lane, name, key, dueAt }) => {
      return { lane, name, key, dueAt: isoTime(dueAt) };
    }),
  };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Decodes a part of a path. One that is not encoded well is no event's id. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
