import type { ComponentChildren } from "preact";
import { timeOfDay } from "./time-of-day.ts";

/** What stands where there is nothing yet: what it would be, and what to do first. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** Why something cannot be shown, with what to do about it. */
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

/** A person or a bot as a letter in their own colour. */
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

/** The label that content of bots carries (section 1). */
export function BotLabel() {
  return <span class="label">bot</span>;
}

/** A time of day, with the date for those who point at it. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {timeOfDay(at)}
    </time>
  );
}

export type Tone = "good" | "bad" | "warn" | "plain";

export function Badge({ tone = "plain", children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** Text as it went over the wire; JSON is indented. */
export function Code({ text, label }: { text: string; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it can be scrolled, so the keyboard has to reach it
    <section class="code" tabIndex={0} aria-label={label}>
      <pre>{pretty(text)}</pre>
    </section>
  );
}

export function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Gives the browser a file to save. */
export function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
