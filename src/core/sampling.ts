import type { LogFn, Logger, LoggerOptions } from "pino";
import type { Clock } from "./clock.ts";

/** So many lines of a kind are written in a window; those after them are counted. */
const LINES = 10;

/** How long a window is, from the first line of a kind on, in milliseconds. */
const WINDOW_MS = 10_000;

/** So many kinds are counted at once; a line of one more is written. */
const MAX_KINDS = 200;

/** pino's numbers for `warn` and `error`: floods are made of what goes wrong again and again. */
const sampledLevels: ReadonlySet<number> = new Set([40, 50]);

/** Each of these stands for something that a person will look for. */
const neverSampled: ReadonlySet<unknown> = new Set([
  "dead letter",
  "delivery with events that cannot be handled: see the dead letters",
  "polling takes over from the webhook",
]);

type Fields = Readonly<Record<string, unknown>>;

/** A line that is about to be written. */
interface Line {
  readonly level: number;
  readonly fields: Fields;
  readonly message: unknown;
  /** Writes one with other fields in its place. */
  readonly write: (fields: Fields) => void;
}

/** The lines of one kind, since the first one of the window. */
interface Kind {
  readonly began: number;
  lines: number;
  /** What was counted last, and when. */
  last: { readonly line: Line; readonly at: number } | undefined;
  readonly cancel: () => void;
}

/** In a logger whose lines may be left out: the logger itself, also in its children. */
const root = Symbol("root");

/**
 * Keeps a failure that repeats itself from filling a disk. Of each kind of line the first ones are written, the
 * others are counted, and one more line tells how many they were when the window ends. Lines are of one kind when they
 * have the same level, message, `status`, `code` and `type`, and errors of the same type and code.
 */
export class Sampling {
  readonly #clock: Clock;
  readonly #kinds = new Map<string, Kind>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ends every window now: nothing that was counted stays untold. */
  flush(): void {
    for (const [name, { cancel }] of this.#kinds) {
      cancel();
      this.#end(name);
    }
  }

  /** Whether a line is written; otherwise it is counted. */
  admits(line: Line): boolean {
    if (neverSampled.has(line.message)) return true;
    const kind = this.#kindOf(line);
    if (kind === undefined) return true;
    kind.lines += 1;
    if (kind.lines <= LINES) return true;
    kind.last = { line, at: this.#clock.now() };
    return false;
  }

  #kindOf({ level, message, fields }: Line): Kind | undefined {
    const { status, code, type, err } = fields;
    const of = errorOf(err);
    const name = JSON.stringify([level, message, status, code, type, of.type, of.code]);
    const known = this.#kinds.get(name);
    if (known !== undefined || this.#kinds.size >= MAX_KINDS) return known;
    const cancel = this.#clock.timer(WINDOW_MS, () => this.#end(name), { background: true });
    const kind: Kind = { began: this.#clock.now(), lines: 0, last: undefined, cancel };
    this.#kinds.set(name, kind);
    return kind;
  }

  #end(name: string): void {
    const kind = this.#kinds.get(name);
    this.#kinds.delete(name);
    if (kind?.last === undefined) return;
    const { line, at } = kind.last;
    const { status, code, type, err } = line.fields;
    line.write({
      ...{ status, code, type, err },
      repeated: kind.lines - LINES,
      spanMs: at - kind.began,
    });
  }
}

/** What makes `sampling` see the lines of the loggers that are given to {@link sampled}. */
export function samplingHook(sampling: Sampling): NonNullable<LoggerOptions["hooks"]> {
  return {
    logMethod(args, method, level) {
      const logger = sampledLevels.has(level) ? rootOf(this) : undefined;
      if (logger === undefined || sampling.admits(lineOf(args, level, method, logger))) {
        method.apply(this, args);
      }
    },
  };
}

/** Lets lines of this logger and its children be left out. */
export function sampled(logger: Logger): Logger {
  return Object.assign(logger, { [root]: logger });
}

/** The same logger, for somebody whose every line is written. */
export function unsampled(logger: Logger): Logger {
  if (rootOf(logger) === undefined) return logger;
  return Object.create(logger, { [root]: { value: undefined } });
}

function rootOf(logger: Logger & { readonly [root]?: Logger }): Logger | undefined {
  return logger[root];
}

function lineOf(args: readonly unknown[], level: number, method: LogFn, logger: Logger): Line {
  const [first, second] = args;
  const message = typeof first === "string" ? first : second;
  const fields = first instanceof Error ? { err: first } : first;
  return {
    level,
    message,
    fields: isObject(fields) ? fields : {},
    write: (others) => method.call(logger, others, String(message)),
  };
}

function errorOf(err: unknown): { readonly type: unknown; readonly code: unknown } {
  if (!isObject(err)) return { type: typeof err, code: undefined };
  return { type: err instanceof Error ? err.name : err.type, code: err.code };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
