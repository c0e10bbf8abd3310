/** Describes a text that is to be sent as the body of a delivery. */
export function check(text: string): string {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    return `Not valid JSON: ${(error as Error).message}`;
  }
  const { events }: { events?: unknown } = { ...Object(body) };
  if (!Array.isArray(events)) return 'JSON, but no batch: the bot expects {"events": […]}.';
  return `A batch of ${events.length === 1 ? "1 event" : `${events.length} events`}.`;
}

/** True if the bot had all events of a delivery before. */
export function isRepeat(body: string | undefined): boolean {
  const { stored, duplicates } = parse(body);
  return stored === 0 && Number(duplicates) > 0;
}

/** Code and message of an answer that refuses a delivery. */
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
