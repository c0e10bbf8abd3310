import type { ReadonlySignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { clockOffset, passing, ticking } from "../live/second.ts";
import type { Live } from "../live/use-live.ts";
import { ago, duration } from "./duration.ts";

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children}
    </div>
  );
}

export function Failure({ error, retry }: { error: Error; retry?: () => unknown }) {
  return (
    <div class="failure" role="alert">
      <p>{error.message}</p>
      {retry !== undefined && (
        <button type="button" onClick={() => void retry()}>
          Try again
        </button>
      )}
    </div>
  );
}

interface LoadedProps<T> {
  readonly live: Live<T>;
  readonly children: (data: T) => ComponentChildren;
}

export function Loaded<T>({ live: { data, error, reload }, children }: LoadedProps<T>) {
  return (
    <>
      {error !== undefined && <Failure error={error} retry={reload} />}
      {data !== undefined && children(data)}
      {data === undefined && error === undefined && <p class="hint">Loading…</p>}
    </>
  );
}

export function Avatar({ username, isBot = false }: { username: string; isBot?: boolean }) {
  const hue = [...username].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 360, 7);
  return (
    <span
      class={isBot ? "avatar bot" : "avatar"}
      style={{ "--hue": String(hue) }}
      aria-hidden="true"
    >
      {username.slice(0, 1).toUpperCase()}
    </span>
  );
}

/** Label for content written by a bot (section 1 of the platform document). */
export function BotLabel() {
  return <span class="label">bot</span>;
}

interface TimeProps {
  readonly at: string;
  /** Offset of the clock that the time comes from. Default: the platform's clock. */
  readonly by?: ReadonlySignal<number>;
}

export function Time({ at, by = clockOffset }: TimeProps) {
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {ago(passing.value + by.value - Date.parse(at))}
    </time>
  );
}

/** Shows the remaining time: "in 4 s", or "now". */
export function Until({ at, by = clockOffset }: TimeProps) {
  const left = Date.parse(at) - ticking.value - by.value;
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {left < 1_000 ? "now" : `in ${duration(left)}`}
    </time>
  );
}

export type Tone = "good" | "bad" | "warn" | "plain";

export function Badge({ tone = "plain", children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

export function Code({ text, label }: { text: string; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard
    <section class="code" tabIndex={0} aria-label={label}>
      <pre>{pretty(text)}</pre>
    </section>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

export function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
