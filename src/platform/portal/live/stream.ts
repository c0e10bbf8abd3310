import { signal } from "@preact/signals";
import type { TimelineEntry } from "../../types.ts";
import { ControlError, request } from "../api/request.ts";
import { isTokenRefused, token } from "../api/token.ts";

/** Whether what is shown is what happens. */
export type Connection = "connecting" | "open" | "lost";

export const connection = signal<Connection>("connecting");

/** How many entries are kept, as many as the platform keeps. */
const MAX_ENTRIES = 10_000;

/** How long entries are collected before they are shown, in milliseconds: thousands come at once. */
const COLLECT_MS = 50;

/** After which time without an answer it is tried again, in milliseconds. */
const RETRY_MS = 1_000;

/** Everything that has happened, oldest first. */
export const entries = signal<readonly TimelineEntry[]>([]);

/** What may have changed: entries that came, or a change that has no entry; `all` after a connection was made. */
export type Change = { readonly all: boolean; readonly entries: readonly TimelineEntry[] };

type Listener = (change: Change) => void;

const listeners = new Set<Listener>();
let waiting: TimelineEntry[] = [];
let scheduled = false;
let run = "";

/** Calls `listener` with what may have changed. Returns what ends that. */
export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Follows what happens on the platform for as long as the page is open. */
export function followPlatform(): void {
  // From the beginning: a number of this run says nothing about another one, and what is known is passed over.
  const source = new EventSource(`/control/v1/stream?token=${token()}`);
  source.addEventListener("hello", ({ data }: MessageEvent<string>) => welcome(JSON.parse(data)));
  source.addEventListener("changed", () => tell({ all: false, entries: [] }));
  source.addEventListener("message", ({ data }: MessageEvent<string>) => take(JSON.parse(data)));
  source.addEventListener("error", () => {
    connection.value = "lost";
    // Where the browser has given up (it was refused: another run has another token), a new source is needed.
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
  tell({ all: true, entries: [] });
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
  tell({ all: false, entries: fresh });
}

function tell(change: Change): void {
  for (const listener of [...listeners]) listener(change);
}

function last(): number {
  return (waiting.at(-1) ?? entries.value.at(-1))?.seq ?? 0;
}
