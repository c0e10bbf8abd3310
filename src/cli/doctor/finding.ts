import type { Config } from "../../config.ts";
import { fill } from "../../core/fill.ts";
import { printable } from "../../core/safe-text.ts";
import { coloured } from "../output.ts";

export type Area =
  | "node"
  | "environment"
  | "platform"
  | "clock"
  | "scopes"
  | "database"
  | "storage"
  | "inbox"
  | "bot"
  | "webhook";

export interface Finding {
  readonly area: Area;
  /** `fail`: the bot cannot work. `warn`: a secret or an event is at risk. `note`: possibly intended. */
  readonly level: "ok" | "note" | "warn" | "fail";
  readonly what: string;
  readonly remedy?: string;
}

/** Maximum number of bytes to read of a response, because any program may serve the URL. */
export const MAX_ANSWER_BYTES: number = 1024 * 1024;

export interface Context {
  /** `undefined` if a variable is missing or invalid. */
  readonly config: Config | undefined;
  readonly webhook: URL | undefined;
}

export type Check = (context: Context) => Promise<Finding[]> | Finding[];

/** Skips a check if the configuration is invalid. */
export function withConfig(check: (config: Config, context: Context) => Promise<Finding[]>): Check {
  return (context) => (context.config === undefined ? [] : check(context.config, context));
}

export function findingsOf(area: Area): {
  ok(what: string): Finding;
  note(what: string, remedy: string): Finding;
  warn(what: string, remedy: string): Finding;
  fail(what: string, remedy: string): Finding;
} {
  return {
    ok: (what) => ({ area, level: "ok", what }),
    note: (what, remedy) => ({ area, level: "note", what, remedy }),
    warn: (what, remedy) => ({ area, level: "warn", what, remedy }),
    fail: (what, remedy) => ({ area, level: "fail", what, remedy }),
  };
}

const marks = { ok: "ok  ", note: "note", warn: "WARN", fail: "FAIL" } as const;

const colours = { warn: "yellow", fail: "red" } as const;

export function findingLines({ level, what, remedy }: Finding): readonly string[] {
  const mark = marks[level];
  const width = process.stdout.isTTY ? undefined : Number.POSITIVE_INFINITY;
  const line = fill(`${mark} `, printable(what), width).slice(mark.length);
  const shown = level === "warn" || level === "fail" ? coloured(colours[level], mark) : mark;
  return [
    shown + line,
    ...(remedy === undefined ? [] : [fill("     → ", printable(remedy), width)]),
  ];
}
