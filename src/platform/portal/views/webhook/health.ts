import type { EventType, NotificationView, TimelineEntry, WebhookView } from "../../../types.ts";

/** How near a webhook is to being switched off (section 3). */
export function failures({ consecutiveFailures, disableAfter }: WebhookView): string {
  const row = `${consecutiveFailures} of ${disableAfter} failures in a row`;
  if (consecutiveFailures === 0) return `${row}. After ${disableAfter} it is switched off.`;
  const left = disableAfter - consecutiveFailures;
  if (left <= 0) return `${row}: that has switched it off.`;
  return `${row}: after ${left} more it is switched off. One success starts the count anew.`;
}

export interface WhyOff {
  readonly reason: string;
  /** When; ISO 8601. Undefined where it is not known any more. */
  readonly at: string | undefined;
}

export interface WhyOffSources {
  readonly view: WebhookView;
  /** What the owner was told, oldest first: of what the platform has switched off. */
  readonly told: readonly NotificationView[];
  /** What happened in this run, oldest first: also of what the owner has switched off. */
  readonly entries: readonly TimelineEntry[];
  readonly bot: string;
}

/** Why a webhook is off, and since when; undefined while it is on. */
export function whyOff({ view, told, entries, bot }: WhyOffSources): WhyOff | undefined {
  if (view.enabled) return undefined;
  if (view.url === null) {
    return { reason: "It has no address yet: type one below and save.", at: undefined };
  }
  const reason = view.disabledReason ?? "It was never switched on.";
  const seen = entries.findLast((entry) => {
    return entry.kind === "webhook" && entry.bot === bot && entry.change === "disabled";
  });
  return { reason, at: told.findLast(({ message }) => message === reason)?.at ?? seen?.at };
}

/** Why an event of a type is not sent by the webhook; undefined when it is. */
export function whyNotSent(
  { enabled, types }: WebhookView,
  disabled: boolean,
  type: EventType,
): string | undefined {
  if (disabled) return "The app is disabled: the event is in its log alone.";
  if (!enabled) return "The webhook is off: the event is in the log alone, where polling finds it.";
  if (types.length === 0 || types.includes(type)) return undefined;
  return `The webhook is not subscribed to ${type}: the event is in the log alone.`;
}

/** What is saved of a form: nothing is said about what stays as it is, apart from whether it is on. */
export interface WebhookDraft {
  readonly url: string;
  readonly types: readonly string[];
  readonly enabled: boolean;
}

export function draftOf({ url, types, enabled }: WebhookView): WebhookDraft {
  return { url: url ?? "", types, enabled };
}

export function isSameDraft(one: WebhookDraft, other: WebhookDraft): boolean {
  return (
    one.url === other.url &&
    one.enabled === other.enabled &&
    one.types.length === other.types.length &&
    one.types.every((type) => other.types.includes(type))
  );
}
