import { duration } from "../../parts/duration.ts";

type Fields = Readonly<Record<string, unknown>>;

/** `isBad` marks a value that needs attention. */
export interface StatusRow {
  readonly name: string;
  readonly value: string;
  readonly isBad: boolean;
}

/**
 * Parses a bot's response to `GET /readyz?verbose` (docs/operate/overview.md). Omits rows for missing values, because
 * the bot's version may differ from the page's. Returns `undefined` if the response is not a status.
 */
export function readBotStatus(raw: unknown): readonly StatusRow[] | undefined {
  const status = fields(raw);
  const mode = text(status["mode"]);
  if (mode === undefined) return undefined;
  const rows: readonly (readonly [string, string | undefined, boolean?])[] = [
    ["Ready", status["ready"] === true ? "yes" : "no; read its log", status["ready"] !== true],
    ["Mode", `${mode}: ${text(status["modeReason"]) ?? ""}`, mode === "polling"],
    ...logRows(fields(status["log"])),
    ["Inbox file", text(status["inboxProblem"]), true],
    ...inboxRows(status["inbox"]),
    ["Requests", requests(fields(status["requests"]))],
    ["Instances", instances(fields(status["instances"]))],
  ];
  return rows.flatMap(([name, value, isBad = false]) => {
    return value === undefined ? [] : [{ name, value, isBad }];
  });
}

function logRows({ cursor, lastPollError, lagMs }: Fields) {
  const { code, status } = fields(lastPollError);
  const error = [code, status].filter((part) => part !== null && part !== undefined).join(" ");
  const lag = typeof lagMs === "number" ? `, read to its end ${duration(lagMs)} ago` : "";
  const place = text(cursor);
  return [
    ["Event log", place === undefined ? undefined : `${place}${lag}`],
    ["Last poll", error === "" ? undefined : `failed with ${error}`, true],
  ] as const;
}

/** In ms. An event that has been waiting longer needs attention. */
const OLD_MS = 60_000;

function inboxRows(inbox: unknown) {
  if (inbox === null) return [["Inbox", "does not respond; check DATABASE_URL", true]] as const;
  const { pending, oldestPendingAgeMs, deadLetters } = fields(inbox);
  if (typeof pending !== "number") return [];
  const age = typeof oldestPendingAgeMs === "number" ? oldestPendingAgeMs : 0;
  const oldest = pending > 0 ? `, the oldest for ${duration(age)}` : "";
  return [
    ["Backlog", `${pending} events${oldest}`, age > OLD_MS],
    ["Dead letters", String(deadLetters), Number(deadLetters) > 0],
  ] as const;
}

function requests({ perMinute, left, waiting }: Fields): string | undefined {
  if (typeof left !== "number") return undefined;
  return `${left} of ${perMinute} left this minute, ${waiting} waiting`;
}

function instances({ list, poller }: Fields): string | undefined {
  if (!Array.isArray(list)) return undefined;
  const reader = text(fields(poller)["holder"]);
  return `${list.length}, ${reader === undefined ? "no instance reads the log" : `${reader} reads the log`}`;
}

function fields(value: unknown): Fields {
  return { ...Object(value) };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
