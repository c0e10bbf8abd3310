import { printableText } from "../../core/terminal.ts";
import * as z from "../../core/zod.ts";
import { orderKey } from "../../events/id.ts";
import type { RestoreMark } from "../../inbox/restored.ts";
import type { WholeEvent } from "../../inbox/transfer.ts";

/** The first line of an export. */
export interface Header {
  readonly format: typeof FORMAT;
  readonly version: typeof VERSION;
  /** When it was made, in milliseconds since 1970. */
  readonly at: number;
  /** What the inbox knew of the backup that it had come from; absent where it was never restored. */
  readonly restored?: RestoreMark | undefined;
}

/** The last line: an export without it was cut short. */
export interface End {
  readonly end: true;
  readonly events: number;
}

const FORMAT = "service-bot inbox";
const VERSION = 1;

export function headerLine(at: number, restored: RestoreMark | undefined): string {
  return JSON.stringify({ format: FORMAT, version: VERSION, at, restored } satisfies Header);
}

export function endLine(events: number): string {
  return JSON.stringify({ end: true, events } satisfies End);
}

/** Writes an event as JSON, which a terminal may show. Escapes return every text as it was. */
export function eventLine(event: WholeEvent): string {
  return printableText(JSON.stringify(event));
}

/** What is wrong with the first line; undefined when this version reads what follows. */
export function headerProblem(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || !("format" in value && "version" in value)) {
    return "it is no header of an export; the first line must be that of service-bot inbox export";
  }
  if (value.format !== FORMAT) return `it is not an export of ${FORMAT}`;
  if (value.version !== VERSION) return tooNew(value.version);
  if (header.safeParse(value).success) return undefined;
  return 'what it says in "restored" is not what an export writes there';
}

/** What the first line, in which nothing is wrong, says of a restore. */
export function restoredIn(value: unknown): RestoreMark | undefined {
  return header.parse(value).restored;
}

function tooNew(version: unknown): string {
  return `it has version ${String(version)}, and this version of service-bot reads ${VERSION}; update it`;
}

export function isEnd(value: unknown): value is End {
  return typeof value === "object" && value !== null && "end" in value;
}

/** No store has to keep a longer one in its indexes, in bytes; as the bot's own intake has it. */
const LONGEST_KEY = 512;

const key = z.string().check((found) => {
  if (Buffer.byteLength(found.value) <= LONGEST_KEY && found.value !== "") return;
  const message = `must have 1 to ${LONGEST_KEY} bytes`;
  found.issues.push({ code: "custom", input: found.value, message });
});
const count = z.int().min(0);
const time = z.int().min(0);
const text = z.string().optional();

const header = z.object({
  restored: z
    .object({
      at: time,
      until: time.optional(),
      readAt: time.optional(),
      overAt: time.optional(),
      assumeAbsent: z.boolean(),
    })
    .optional(),
});

const line = z.object({
  id: key,
  type: key,
  lane: key,
  ord: z.string().optional(),
  state: z.enum(["pending", "done", "dead", "discarded"]),
  source: z.enum(["webhook", "poll"]),
  attempts: count.max(2 ** 31 - 1),
  crashes: count.max(2 ** 31 - 1),
  receivedAt: time,
  endedAt: time.optional(),
  error: text,
  discardReason: text,
  trace: z
    .string()
    .regex(/^[0-9a-f]{32}$/, "must be the id of a trace: 32 digits")
    .optional(),
  body: text,
  history: z.array(
    z.object({
      number: count.max(2 ** 31 - 1),
      outcome: z.enum(["failed", "released", "dead", "crashed"]),
      error: text,
      endedAt: time,
    }),
  ),
  steps: z.array(
    z.object({
      name: z.string(),
      state: z.enum(["open", "done"]),
      request: z.string(),
      result: text,
      ref: text,
      startedAt: time,
    }),
  ),
});

/** An event of an export, or what is wrong with it. */
export function readEvent(
  value: unknown,
): { readonly event: WholeEvent } | { readonly problem: string } {
  const read = line.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    const path = issue?.path.join(".") ?? "";
    return { problem: `${path === "" ? "it" : `"${path}"`}: ${issue?.message ?? "is not valid"}` };
  }
  const { ord, ...rest } = read.data;
  const problem = contradiction(rest);
  if (problem !== undefined) return { problem };
  return { event: { ...absent, ...rest, ord: ord ?? orderKey(rest.id) } as WholeEvent };
}

/** What need not be on a line. */
const absent = {
  endedAt: undefined,
  error: undefined,
  discardReason: undefined,
  trace: undefined,
  body: undefined,
};

function contradiction({
  state,
  endedAt,
  body,
  steps,
}: Pick<z.output<typeof line>, "state" | "endedAt" | "body" | "steps">): string | undefined {
  if (state === "pending" && body === undefined) return 'a pending event must have its "body"';
  if (state === "pending" && endedAt !== undefined) return 'a pending event has no "endedAt"';
  if (state !== "pending" && endedAt === undefined) return `a ${state} event must have "endedAt"`;
  const names = new Set(steps.map(({ name }) => name));
  return names.size < steps.length ? "two of its steps have one name" : undefined;
}
