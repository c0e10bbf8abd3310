import { ago, bytes, duration } from "../../parts/duration.ts";

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
    ...webhookRows(status),
    ...platformRows(fields(status["platform"])),
    ...logRows(fields(status["log"])),
    ["Inbox file", text(status["inboxProblem"]), true],
    ...inboxRows(status["inbox"]),
    ...storeRows(fields(status["store"])),
    ["Loop guard", loopGuard(fields(status["loopGuard"])), true],
    ["Requests", requests(fields(status["requests"]))],
    ["Instances", instances(fields(status["instances"]))],
    ["Credentials", credentials(fields(status["credentials"]))],
  ];
  return rows.flatMap(([name, value, isBad = false]) => {
    return value === undefined ? [] : [{ name, value, isBad }];
  });
}

function logRows({ cursor, lastPollError, lagMs }: Fields) {
  const error = errorText(lastPollError);
  const lag = typeof lagMs === "number" ? `, read to its end ${duration(lagMs)} ago` : "";
  const place = text(cursor);
  return [
    ["Event log", place === undefined ? undefined : `${place}${lag}`],
    ["Last poll", error === "" ? undefined : `failed with ${error}`, true],
  ] as const;
}

function webhookRows({ webhook, lastDeliveryAt, at }: Fields) {
  const { state, reason, refused, lastRefusal } = fields(webhook);
  if (text(state) === undefined) return [];
  const ms = Date.parse(String(at)) - Date.parse(String(lastDeliveryAt));
  const isRefusing = Number(refused) > 0;
  return [
    ["Webhook", `${state}: ${text(reason) ?? ""}`, state === "silent"],
    ["Last delivery", Number.isNaN(ms) ? undefined : ago(ms)],
    [
      "Refused",
      isRefusing ? `${refused} since then, the last with ${errorText(lastRefusal)}` : undefined,
      true,
    ],
  ] as const;
}

/** Difference from the platform's clock that needs attention, in ms. */
const MAX_SKEW_MS = 10_000;

function platformRows({ circuits, clockSkewMs }: Fields) {
  const open = Array.isArray(circuits) ? circuits.map(fields) : [];
  const paused = open.map((circuit) => `${circuit["of"]} (${whyPaused(circuit)})`).join(", ");
  const skew = typeof clockSkewMs === "number" ? clockSkewMs : 0;
  const isOff = Math.abs(skew) > MAX_SKEW_MS;
  return [
    ["Paused requests", paused === "" ? undefined : paused, true],
    ["Clock", isOff ? `${duration(skew)} ${skew > 0 ? "ahead" : "behind"}` : undefined, true],
  ] as const;
}

function whyPaused({ why, ...error }: Fields): string {
  return [text(why), errorText(error)].filter(Boolean).join(", ");
}

function storeRows({ failure, disk }: Fields) {
  const { reason } = fields(failure);
  const { isLow, freeBytes, minFreeBytes } = fields(disk);
  const free = typeof freeBytes === "number" ? bytes(freeBytes) : "an unknown size";
  const low = `${free} free; below ${bytes(Number(minFreeBytes))} the bot refuses new events`;
  return [
    ["Store", text(reason) === undefined ? undefined : `fails: ${reason}`, true],
    ["Disk", isLow === true ? low : undefined, true],
  ] as const;
}

function loopGuard({ holding }: Fields): string | undefined {
  return Number(holding) > 0 ? `holds back events in ${holding} places` : undefined;
}

function credentials({ apiKeyEnd, webhookSecretEnds }: Fields): string | undefined {
  if (!Array.isArray(webhookSecretEnds)) return undefined;
  const shown = (end: unknown) => `…${text(end) ?? ""}`;
  return `key ${shown(apiKeyEnd)}, secrets ${webhookSecretEnds.map(shown).join(" ") || "(none)"}`;
}

function errorText(error: unknown): string {
  const { code, status } = fields(error);
  return [code, status].filter((part) => part !== null && part !== undefined).join(" ");
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
