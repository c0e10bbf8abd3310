import { eventId } from "./message.ts";
import { act, type PlatformProcess } from "./platform.ts";

/** Tokens by what they see: everything, direct messages alone, everything else alone. */
export const readers = ["all", "dm", "read"] as const;
export type Reader = (typeof readers)[number];

/**
 * Where a page begins: at the first event; just before the long stretch of events that a reader may not
 * see; and so that it ends with the last event that the reader sees.
 */
export const places = ["start", "barren", "end"] as const;
export type Place = (typeof places)[number];

export interface FilledLog {
  readonly tokens: Readonly<Record<Reader, string>>;
  /** What to send as `since`. */
  readonly cursors: Readonly<Record<Reader, Readonly<Record<Place, string>>>>;
}

interface Numbered {
  readonly events: readonly { readonly id: string }[];
}

/**
 * Lets `size` events happen. At both ends those of two apps and of both kinds are mixed; between them lie
 * the likes, the direct messages, and the events of the other app, each in one stretch.
 */
export async function fillLog(platform: PlatformProcess, size: number): Promise<FilledLog> {
  await platform.control("POST", "/apps", { username: "neighbour" });
  const stretch = Math.floor((0.3 * size) / 1000) * 1000;
  await mix(platform, (size - 3 * stretch) / 2);
  const beforeLikes = await last(platform);
  await act(platform, { type: "like" }, stretch);
  const beforeMessages = await last(platform);
  await act(platform, { type: "dm.message", text: "hello" }, stretch);
  const beforeNeighbours = await last(platform);
  await act(platform, { type: "follow", to: "neighbour" }, stretch);
  await mix(platform, (size - 3 * stretch) / 2);
  const nearEnd = await beforeLastPage(platform);
  return {
    tokens: {
      all: platform.apiKey,
      dm: await tokenWith(platform, "dm"),
      read: await tokenWith(platform, "read"),
    },
    cursors: {
      all: { start: FIRST, barren: beforeNeighbours, end: nearEnd },
      dm: { start: FIRST, barren: beforeLikes, end: nearEnd },
      read: { start: FIRST, barren: beforeMessages, end: nearEnd },
    },
  };
}

/** The cursor before the first event. */
const FIRST = "evt_000000000000";

/** How many events of one kind follow each other where kinds are mixed: half a page. */
const RUN = 25;

/** Two kinds for each of two apps, in turns. */
async function mix(platform: PlatformProcess, count: number): Promise<void> {
  const kinds = [
    { type: "dm.message", text: "hello" },
    { type: "follow" },
    { type: "dm.message", text: "hello", to: "neighbour" },
    { type: "follow", to: "neighbour" },
  ];
  for (let done = 0; done < count; done += RUN * kinds.length) {
    for (const kind of kinds) await act(platform, kind, RUN);
  }
}

/** The newest event of the first app. */
async function last(platform: PlatformProcess): Promise<string> {
  const headers = { authorization: `Bearer ${platform.apiKey}` };
  const response = await fetch(`${platform.url}/api/v1/events?since=`, { headers });
  return ((await response.json()) as { cursor: string }).cursor;
}

/** A cursor after which every reader still has a whole page: the last events are mixed. */
async function beforeLastPage(platform: PlatformProcess): Promise<string> {
  const newest = Number((await last(platform)).slice("evt_".length));
  const since = eventId(newest - 400);
  const { events } = await platform.control<Numbered>("GET", `/events?since=${since}`);
  if (events.length < 190) throw new Error("the end of the log is not mixed as it should be");
  return since;
}

async function tokenWith(platform: PlatformProcess, scope: "dm" | "read"): Promise<string> {
  const made = await platform.control<{ apiKey: string }>("POST", "/tokens", { scopes: [scope] });
  return made.apiKey;
}
