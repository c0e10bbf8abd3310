import { signal } from "@preact/signals";
import type { TimelineEntry } from "../../types.ts";
import { ControlError, request } from "../api/request.ts";
import { isTokenRefused, token } from "../api/token.ts";

/** State of the stream of the timeline. */
export type Connection = "connecting" | "open" | "lost";

export const connection = signal<Connection>("connecting");

/** Kept entries, as many as the platform keeps. */
const MAX_ENTRIES = 10_000;

/** In ms. Entries are collected because thousands come at once. */
const COLLECT_MS = 50;

/** In ms. Wait before a new connection after a refused one. */
const RETRY_MS = 1_000;

/** The timeline, oldest first. */
export const entries = signal<readonly TimelineEntry[]>([]);

/** Called with new entries; with none if anything may have changed. */
type Listener = (entries: readonly TimelineEntry[]) => void;

const listeners = new Set<Listener>();
let waiting: TimelineEntry[] = [];
let scheduled = false;
let run = "";

/** Calls `listener` with each change. Returns a function that ends it. */
export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Follows the timeline of the platform while the page is open. */
export function followPlatform(): void {
  // From the beginning, because numbers of another run mean nothing. Known entries are skipped.
  const source = new EventSource(`/control/v1/stream?token=${token()}`);
  source.addEventListener("hello", ({ data }: MessageEvent<string>) => welcome(JSON.parse(data)));
  source.addEventListener("changed", () => notify([]));
  source.addEventListener("message", ({ data }: MessageEvent<string>) => take(JSON.parse(data)));
  source.addEventListener("error", () => {
    connection.value = "lost";
    // A refused source stays closed: another run of the platform has another token.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => void comeBack(), RETRY_MS);
  });
}

async function comeBack(): Promise<void> {
  try {
    await request("GET", "/state");
    isTokenRefused.value = false;
  } catch (error) {
    // The stream does not say why it is refused.
    isTokenRefused.value = error instanceof ControlError && error.status === 401;
  }
  followPlatform();
}

function welcome({ run: now }: { readonly run: string }): void {
  if (run !== now) {
    // Another process: its numbers begin anew.
    waiting = [];
    entries.value = [];
  }
  run = now;
  connection.value = "open";
  isTokenRefused.value = false;
  notify([]);
}

function take(entry: TimelineEntry): void {
  if (entry.seq <= last()) return;
  waiting.push(entry);
  if (!scheduled) setTimeout(flush, COLLECT_MS);
  scheduled = true;
}

function flush(): void {
  scheduled = false;
  const fresh = waiting;
  if (fresh.length === 0) return;
  waiting = [];
  const all = [...entries.value, ...fresh];
  entries.value = all.length > MAX_ENTRIES ? all.slice(-MAX_ENTRIES) : all;
  notify(fresh);
}

function notify(fresh: readonly TimelineEntry[]): void {
  for (const listener of [...listeners]) listener(fresh);
}

function last(): number {
  return (waiting.at(-1) ?? entries.value.at(-1))?.seq ?? 0;
}
