import type { WebhookView } from "../../../types.ts";

/** Describes how near a webhook is to being disabled (section 3). */
export function failures({ consecutiveFailures, disableAfter }: WebhookView): string {
  return `${consecutiveFailures} of ${disableAfter} failures in a row. After ${disableAfter} the platform disables it.`;
}

/** What is saved of the form. */
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
