import type { Logger } from "../core/logger.ts";
import { type ErrorCode, ServiceBotError } from "../errors.ts";
import type { CronView, InboxAdmin } from "../inbox/admin.ts";
import type { TimerName } from "../inbox/effects.ts";
import { type Answer, failure, json, methodNotAllowed, notReady } from "./answer.ts";

/** Parts of the bot that the local platform displays and controls. */
export interface LocalChannel {
  readonly log: Logger;
  readonly inbox: InboxAdmin;
  readonly schedule: {
    crons(): Promise<readonly CronView[]>;
    /** Resolves to the event's id, or to `undefined` if there is no cron job with that name. */
    fireCron(name: string): Promise<string | undefined>;
    /** Resolves to the number of fired timers. */
    fireTimers(name: TimerName): Promise<number>;
  };
}

export interface LocalRequest {
  readonly method: string;
  readonly path: string;
  /** The query, without the question mark. */
  readonly query: string;
}

const PREFIX = "/local/v1/";

const PAGE = 50;

/** Maximum length of a displayed state, in characters. The CLI shows longer states. */
const MAX_VALUE = 4_000;

/** Reason stored with a discarded event. */
const REASON = "discarded in the local platform's portal";

/** An operation of the channel. Its path is relative to {@link PREFIX}. */
interface Operation {
  readonly method: "GET" | "POST";
  readonly path: RegExp;
  /** @param id the path's parameter */
  run(channel: LocalChannel, id: string, query: URLSearchParams): Promise<object>;
}

const operations: readonly Operation[] = [
  { method: "GET", path: /^inbox\/([^/]+)$/, run: ({ inbox }, id) => eventOf(inbox, id) },
  {
    method: "POST",
    path: /^inbox\/([^/]+)\/retry$/,
    async run({ inbox }, id) {
      await inbox.retry(id);
      return await eventOf(inbox, id);
    },
  },
  {
    method: "POST",
    path: /^inbox\/([^/]+)\/discard$/,
    async run({ inbox }, id) {
      await inbox.discard(id, REASON);
      return await eventOf(inbox, id);
    },
  },
  { method: "GET", path: /^states$/, run: ({ inbox }, _, query) => statesOf(inbox, query) },
  { method: "GET", path: /^timers$/, run: ({ inbox }, _, query) => timersOf(inbox, query) },
  {
    method: "POST",
    path: /^timers\/fire$/,
    async run({ schedule }, _, query) {
      const [lane, name] = [query.get("lane") ?? "", query.get("name") ?? ""];
      const fired = await schedule.fireTimers({ lane, name, key: query.get("key") ?? undefined });
      if (fired === 0) throw missing(`timer ${name} in ${lane}`);
      return { fired };
    },
  },
  {
    method: "GET",
    path: /^crons$/,
    run: async ({ schedule }) => ({ items: (await schedule.crons()).map(cronOf) }),
  },
  {
    method: "POST",
    path: /^crons\/([^/]+)\/fire$/,
    async run({ schedule }, name) {
      const eventId = await schedule.fireCron(name);
      if (eventId === undefined) throw missing(`cron ${name}`);
      return { eventId };
    },
  },
];

export function isLocalPath(path: string): boolean {
  return path.startsWith(PREFIX);
}

export async function answerLocal(
  { method, path, query }: LocalRequest,
  channel: LocalChannel,
): Promise<Answer> {
  for (const operation of operations) {
    const found = operation.path.exec(path.slice(PREFIX.length));
    if (found === null) continue;
    if (method !== operation.method) return methodNotAllowed(operation.method);
    try {
      const id = decoded(found[1] ?? "");
      return json(200, await operation.run(channel, id, new URLSearchParams(query)));
    } catch (error) {
      return errorAnswer(error, channel.log);
    }
  }
  return failure(404, "NOT_FOUND", "Not found.");
}

function errorAnswer(error: unknown, log: Logger): Answer {
  if (!(error instanceof ServiceBotError)) {
    log.error({ err: error }, "a request from the local platform failed");
    return notReady;
  }
  if (error.code === "STORE_UNAVAILABLE") return notReady;
  return failure(error.code === MISSING ? 404 : 409, error.code, error.message);
}

/** Code for an event, cron job or timer that does not exist. */
const MISSING: ErrorCode = "EVENT_NOT_FOUND";

function missing(what: string): ServiceBotError {
  return new ServiceBotError(MISSING, `There is no ${what}.`);
}

async function eventOf(inbox: InboxAdmin, id: string): Promise<object> {
  const { state, attempts, error, history, steps } = await inbox.show(id);
  return { id, state, attempts, error, history, steps };
}

async function statesOf(inbox: InboxAdmin, query: URLSearchParams): Promise<object> {
  const prefix = query.get("prefix") ?? undefined;
  const after = keyIn(query.get("cursor"));
  const { states, next } = await inbox.states({ prefix, limit: PAGE, after });
  const values = await Promise.all(states.map(({ key }) => inbox.state(key)));
  const items = states.map(({ key, bytes, updatedAt }, n) => {
    const value = values[n]?.value.slice(0, MAX_VALUE) ?? "";
    return { key, bytes, value, updatedAt: isoTime(updatedAt) };
  });
  return { items, nextCursor: next === undefined ? null : JSON.stringify([next]) };
}

/**
 * Reads the key in a cursor. A cursor contains its key as JSON, because a key may be any text.
 *
 * @throws {ServiceBotError} CURSOR_INVALID
 */
function keyIn(cursor: string | null): string | undefined {
  if (cursor === null) return undefined;
  try {
    const [key]: unknown[] = JSON.parse(cursor);
    if (typeof key === "string") return key;
  } catch {
    // The cursor is not JSON, or not a list.
  }
  throw new ServiceBotError(
    "CURSOR_INVALID",
    'Invalid cursor. Pass the "next" value from the previous page.',
  );
}

async function timersOf(inbox: InboxAdmin, query: URLSearchParams): Promise<object> {
  const lane = query.get("lane") ?? undefined;
  const after = query.get("cursor") ?? undefined;
  const { timers, next = null } = await inbox.timers({ lane, limit: PAGE, after });
  const items = timers.map(({ lane, name, key, dueAt }) => {
    return { lane, name, key, dueAt: isoTime(dueAt) };
  });
  return { items, nextCursor: next };
}

function cronOf({ nextAt, last, ...cron }: CronView): object {
  const { id, state, receivedAt } = last ?? {};
  return {
    ...cron,
    nextAt: nextAt === undefined ? null : isoTime(nextAt),
    last: receivedAt === undefined ? null : { id, state, at: isoTime(receivedAt) },
  };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Decodes a path segment. Returns an empty string, which matches nothing, if the segment is invalid. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
