import type { Config } from "../../config.ts";

/** The areas, in the order of the report. */
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

/** A result of a check. */
export interface Finding {
  readonly area: Area;
  /**
   * `fail` keeps the bot from its work. `warn` puts a secret or an event at risk while the bot works. `note` may be
   * intended.
   */
  readonly level: "ok" | "note" | "warn" | "fail";
  readonly what: string;
  /** Absent if all is well. */
  readonly remedy?: string;
}

/** Input of the checks. */
export interface Context {
  /** `undefined` if the environment is not complete. */
  readonly config: Config | undefined;
  /** The public address of the webhook; `undefined` if it was not given. */
  readonly webhook: URL | undefined;
}

/** Looks at one part of a bot's surroundings, and changes nothing. */
export type Check = (context: Context) => Promise<Finding[]> | Finding[];

/** A check that needs the whole configuration. Without one it finds nothing. */
export function withConfig(check: (config: Config, context: Context) => Promise<Finding[]>): Check {
  return (context) => (context.config === undefined ? [] : check(context.config, context));
}

/** Makes the findings of an area. */
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

/** Describes a finding in one line, and its remedy in another. */
export function findingLines({ level, what, remedy }: Finding): readonly string[] {
  const line = `${marks[level]} ${what}`;
  return remedy === undefined ? [line] : [line, `     → ${remedy}`];
}
