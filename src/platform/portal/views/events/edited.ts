/** What is known of a text before it is sent. */
export interface Checked {
  /** Whether it is JSON. */
  readonly valid: boolean;
  /** What it is, or what is wrong with it. */
  readonly note: string;
}

/** Looks at a text that is to be sent as the body of a delivery. */
export function check(text: string): Checked {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    return { valid: false, note: `This is no JSON: ${(error as Error).message}` };
  }
  const { events }: { events?: unknown } = { ...Object(body) };
  if (!Array.isArray(events)) {
    return { valid: true, note: 'JSON, but no batch: the bot expects {"events": […]}.' };
  }
  return {
    valid: true,
    note: `A batch of ${events.length === 1 ? "1 event" : `${events.length} events`}.`,
  };
}
