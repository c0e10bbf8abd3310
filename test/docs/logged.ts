import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./markdown.ts";

/** A line in docs/operate/logs.md. */
export interface DocumentedLine {
  readonly levels: readonly string[];
  readonly message: string;
  /** Sorted. Excludes the fields that all lines of a run have. */
  readonly fields: readonly string[];
  readonly ofRun: boolean;
}

const text = readFileSync(join(root, "docs/operate/logs.md"), "utf8");

/** Additional fields of a run's lines. */
export const fieldsOfRun: readonly string[] = ["event", "type", "lane", "attempt", "trace"];

/** A row has several messages if they share their levels and fields. */
const ROW = /^\| ((?:[a-z]+)(?:, [a-z]+)*) \| (`[^|]+`) \| ([^|]*)\|(?: [^|]*\|)?$/gm;

export const documentedLines: readonly DocumentedLine[] = [...text.matchAll(ROW)].flatMap(
  ([, levels = "", messages = "", fields = ""]) =>
    [...messages.matchAll(/`([^`]+)`/g)].map(([, message = ""]) => ({
      levels: levels.split(", "),
      message,
      fields: namesIn(fields).sort(),
      ofRun: fields.startsWith("the event"),
    })),
);

/** Names in the first column of the table of fields. */
export const documentedFields: readonly string[] = [
  ...(text.split("\n## Fields\n")[1]?.split("\n## ")[0] ?? "").matchAll(/^\| (`.*?) \|/gm),
].flatMap(([, names = ""]) => namesIn(names));

/** Returns the difference between a logged line and its documentation, or `undefined` if they agree. */
export function undocumented(record: Readonly<Record<string, unknown>>): string | undefined {
  const { level, msg, time: _time, ...fields } = record;
  const line = documentedLines.find(
    ({ message, levels }) => message === msg && levels.includes(String(level)),
  );
  if (line === undefined) return `${level} ${msg}`;
  const known = line.ofRun ? [...line.fields, ...fieldsOfRun] : line.fields;
  const names = Object.keys(fields).sort();
  const isKnown = names.every((name) => known.includes(name));
  if (isKnown && withoutValues.has(String(msg))) return undefined;
  const isOptional = (name: string) => !line.ofRun && ofEvent.has(name);
  const isAll = known.every((name) => names.includes(name) || isOptional(name));
  return isKnown && isAll ? undefined : `${msg}: ${names.join(" ")}`;
}

/** Fields of a line about a request. A request can also be made outside a run. */
const ofEvent: ReadonlySet<string> = new Set(["event", "trace"]);

/** Lines with optional fields: there may be no response, or no address for deliveries. */
const withoutValues: ReadonlySet<string> = new Set(["api", "ready"]);

function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name ?? "");
}
