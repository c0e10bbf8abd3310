import { signal } from "@preact/signals";
import type { TimelineEntry } from "../../types.ts";
import { control } from "../api/control.ts";
import { ControlError } from "../api/request.ts";
import { isTokenRefused, token } from "../api/token.ts";

export type Connection = "connecting" | "open" | "lost";

export const connection = signal<Connection>("connecting");

/** The platform keeps the same number of entries. */
const MAX_ENTRIES = 10_000;

/** Time during which new entries are collected for one render, in ms. Entries may arrive by the thousand. */
const COLLECT_MS = 50;

const RETRY_MS = 1_000;

/** The timeline, oldest first. */
export const entries = signal<readonly TimelineEntry[]>([]);

/** Called with new entries, or with an empty list if any data may have changed. */
type Listener = (entries: readonly TimelineEntry[]) => void;

const listeners = new Set<Listener>();
let waiting: TimelineEntry[] = [];
let scheduled = false;
let run = "";

export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function followPlatform(): void {
  // Start from the beginning, because entry numbers from another run are meaningless. Known entries are skipped.
  const source = new EventSource(`/control/v1/stream?token=${token()}`);
  source.addEventListener("hello", ({ data }: MessageEvent<string>) => welcome(JSON.parse(data)));
  source.addEventListener("changed", () => notify([]));
  source.addEventListener("message", ({ data }: MessageEvent<string>) => take(JSON.parse(data)));
  source.addEventListener("error", () => {
    connection.value = "lost";
    // A rejected EventSource does not reconnect. The token may have changed, because each run of the platform has a new
    // one.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => void comeBack(), RETRY_MS);
  });
}

async function comeBack(): Promise<void> {
  try {
    await control.state();
    isTokenRefused.value = false;
  } catch (error) {
    // Send a request to find out the reason, because an EventSource does not report one.
    isTokenRefused.value = error instanceof ControlError && error.status === 401;
  }
  followPlatform();
}

function welcome({ run: now }: { readonly run: string }): void {
  if (run !== now) {
    // Another process has started, and its numbers start again at 1.
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
