export function check(text: string): string {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    return `Not valid JSON: ${(error as Error).message}`;
  }
  const { events }: { events?: unknown } = { ...Object(body) };
  if (!Array.isArray(events)) return 'JSON, but not a batch. The bot expects {"events": […]}.';
  return `A batch of ${events.length === 1 ? "1 event" : `${events.length} events`}.`;
}

/** Returns whether the bot had already received every event in the delivery. */
export function isRepeat(body: string | undefined): boolean {
  const { stored, duplicates } = parse(body);
  return stored === 0 && Number(duplicates) > 0;
}

/** Returns "code: message" from an error response. */
export function reasonOf(body: string | undefined): string | undefined {
  const { code, message }: { code?: unknown; message?: unknown } = Object(parse(body)["error"]);
  return typeof message === "string" ? `${code}: ${message}` : undefined;
}

function parse(body = ""): Readonly<Record<string, unknown>> {
  try {
    return { ...Object(JSON.parse(body)) };
  } catch {
    return {};
  }
}
