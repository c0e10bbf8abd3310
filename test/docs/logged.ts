import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./markdown.ts";

export interface DocumentedLine {
  readonly levels: readonly string[];
  readonly message: string;
  /** Sorted, without the fields that every line of a run has. */
  readonly fields: readonly string[];
  readonly ofRun: boolean;
}

const text = readFileSync(join(root, "docs/operate/logs.md"), "utf8");

/** Fields that every line of a run has. */
export const fieldsOfRun: readonly string[] = ["event", "type", "lane", "attempt", "trace"];

/** A row may list several messages that share levels and fields. */
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

export const documentedFields: readonly string[] = [
  ...(text.split("\n## Fields\n")[1]?.split("\n## ")[0] ?? "").matchAll(/^\| (`.*?) \|/gm),
].flatMap(([, names = ""]) => namesIn(names));

/** Returns how a logged line differs from its documentation, or `undefined` if it does not. */
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

/** Fields of a line about a request, which may also be made outside a run. */
const ofEvent: ReadonlySet<string> = new Set(["event", "trace"]);

/** Messages whose lines have optional fields: there may be no response, or no URL for deliveries. */
const withoutValues: ReadonlySet<string> = new Set(["api", "ready"]);

function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name ?? "");
}
