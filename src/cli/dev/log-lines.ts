/** Turns the bot's JSON log lines into lines for people. */
export type LogFormatter = (line: string) => string | undefined;

/** Said by the platform's side of the timeline already. */
const repeated: ReadonlySet<unknown> = new Set(["delivery", "handled", "api"]);

/**
 * Uses pino-pretty where the bot has it; otherwise the lines stay as they are. What is not JSON (a
 * `console.log`, a stack) stays as it is too.
 */
export async function logFormatter(colour: boolean): Promise<LogFormatter> {
  const pretty = await loadPretty(colour);
  return (line) => {
    const record = parse(line);
    if (record === undefined) return line;
    if (record.level === "info" && repeated.has(record.msg)) return undefined;
    return pretty(line).trimEnd();
  };
}

async function loadPretty(colour: boolean): Promise<(line: string) => string> {
  try {
    const { prettyFactory } = await import("pino-pretty");
    return prettyFactory({
      colorize: colour,
      singleLine: true,
      translateTime: "SYS:HH:MM:ss",
      messageFormat: "bot {msg}",
    });
  } catch {
    return (line) => line;
  }
}

function parse(line: string): { level?: unknown; msg?: unknown } | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
