import { causesOf, tryRead } from "../errors.ts";
import { printableText, scrubber, showError, showErrorPlace } from "./safe-text.ts";
import { secretScrubber } from "./secret-scrubber.ts";
import { aboutEvent } from "./trace.ts";

/** Values that an error must not show. */
export interface Confidential {
  readonly secrets: () => readonly string[];
  /**
   * Returns the texts that users wrote in an event, or in all recent events if no id is given. `undefined` if the event
   * is unknown.
   */
  readonly textsOf?: ((event: string | undefined) => readonly string[] | undefined) | undefined;
}

/** The part of `process` that prints errors, replaceable in tests. */
export interface ErrorProcess {
  readonly stderr: { write(text: string): unknown };
  readonly version: string;
  on(event: "uncaughtException", listener: (error: unknown) => void): unknown;
  on(event: "warning", listener: (warning: Error) => void): unknown;
  removeListener(event: "warning", listener: (warning: Error) => void): unknown;
  listeners(event: string): unknown[];
  listenerCount(event: string): number;
  exit(code: number): void;
}

/**
 * Prints the errors that end a process, and warnings, without secrets and users' texts. Node would print them as they
 * are. Everything else stays as it is without this class: the exit code is 1, and if the application has its own
 * listener for uncaught exceptions, that listener alone decides.
 */
export class UncaughtErrors {
  readonly #process: ErrorProcess;
  readonly #sources = new Set<Confidential>();

  constructor(process: ErrorProcess) {
    this.#process = process;
  }

  /** Adds values to redact. The first call installs the listeners. */
  add(source: Confidential): void {
    if (this.#sources.size === 0) {
      this.#process.on("uncaughtException", (error) => this.#onUncaught(error));
      this.#redactWarnings();
    }
    this.#sources.add(source);
  }

  /** Redacts the secrets in a text. */
  redact(text: string): string {
    return secretScrubber(this.#secrets())(text);
  }

  #secrets(): string[] {
    return [...this.#sources].flatMap((source) => tryRead(() => source.secrets()) ?? []);
  }

  #onUncaught(error: unknown): void {
    const { stderr, version } = this.#process;
    // With a listener of its own, the application decides whether to print the error and to exit.
    if (this.#process.listenerCount("uncaughtException") > 1) return;
    const { event } = aboutEvent();
    const place = event === undefined ? "" : `\nEvent: ${event}`;
    const text = tryRead(() => describe(error, this.#scrubberFor(event))) ?? "Uncaught error";
    stderr.write(`${printableText(`${text}${place}\n\nNode.js ${version}`)}\n`);
    this.#process.exit(1);
  }

  /** Returns `undefined` if an event's texts are no longer known, so that no text may be shown. */
  #scrubberFor(event: string | undefined): Scrub | undefined {
    const sources = [...this.#sources].filter(({ textsOf }) => textsOf !== undefined);
    const texts = sources.map(({ textsOf }) => tryRead(() => textsOf?.(event)));
    const known = texts.filter((list) => list !== undefined);
    if (sources.length > 0 && known.length === 0) return undefined;
    const [hideSecrets, hideTexts] = [secretScrubber(this.#secrets()), scrubber(known.flat())];
    return (text) => hideTexts(hideSecrets(text));
  }

  /** Passes redacted copies of warnings to Node's own listener. Other listeners get the warnings themselves. */
  #redactWarnings(): void {
    const isPrinter = (listener: unknown) => Object(listener).name === "onWarning";
    const print = this.#process.listeners("warning").find(isPrinter);
    if (typeof print !== "function") return;
    const printWarning = print as (warning: Error) => void;
    this.#process.removeListener("warning", printWarning);
    this.#process.on("warning", (warning) => {
      const { event } = aboutEvent();
      printWarning(redactedCopy(warning, this.#scrubberFor(event)));
    });
  }
}

type Scrub = (text: string) => string;

/** Maximum number of fields of an error, and of errors in an AggregateError. */
const MAX_ITEMS = 20;

/** Describes a thrown value with its causes. Without `scrub`, only their classes and locations. */
function describe(thrown: unknown, scrub: Scrub | undefined): string {
  const chain = causesOf(thrown);
  if (chain.length === 0) return `Uncaught ${describeOne(thrown, scrub)}`;
  return chain.map((error) => describeOne(error, scrub)).join("\ncaused by: ");
}

function describeOne(thrown: unknown, scrub: Scrub | undefined): string {
  const shown = scrub === undefined ? showErrorPlace(thrown) : showError(thrown, scrub);
  const { type, message, stack = `${type}: ${message}` } = shown;
  if (scrub === undefined) return stack;
  const fields = fieldsOf(thrown).map(([name, value]) => `\n  ${name}: ${scrub(String(value))}`);
  const errors = errorsIn(thrown).map((error) => {
    const { type, message } = showError(error, scrub);
    return `\n  one of its errors: ${type}: ${message}`;
  });
  return [stack, ...fields, ...errors].join("");
}

/** Returns the fields that are printed. Others contain objects, which may contain anything. */
function fieldsOf(thrown: unknown): [name: string, value: unknown][] {
  if (typeof thrown !== "object" || thrown === null) return [];
  const entries = tryRead(() => Object.entries(thrown)) ?? [];
  return entries
    .filter(([name, value]) => name !== "stack" && SHOWN.has(typeof value))
    .slice(0, MAX_ITEMS);
}

const SHOWN: ReadonlySet<string> = new Set(["string", "number", "boolean", "bigint"]);

function errorsIn(thrown: unknown): unknown[] {
  const errors = tryRead(() => Reflect.get(Object(thrown), "errors"));
  return Array.isArray(errors) ? (tryRead(() => errors.slice(0, MAX_ITEMS)) ?? []) : [];
}

/** Copies the fields of a warning that Node prints. */
function redactedCopy(warning: Error, scrub: Scrub | undefined): Error {
  const shown = scrub === undefined ? showErrorPlace(warning) : showError(warning, scrub);
  const { type: name, message, stack, code } = shown;
  const detail = tryRead(() => Reflect.get(warning, "detail"));
  return Object.assign(new Error(message), {
    name,
    ...(stack === undefined ? {} : { stack }),
    ...(code === undefined ? {} : { code }),
    ...(typeof detail === "string" && scrub !== undefined ? { detail: scrub(detail) } : {}),
  });
}

export const uncaughtErrors: UncaughtErrors = new UncaughtErrors(process);
