import type { Transport } from "../client/transport.ts";
import { isLoopback } from "../core/addresses.ts";
import { readTextUpTo } from "../core/bounded-read.ts";
import { every, systemClock } from "../core/clock.ts";
import {
  MAX_REPORTED_RUNS,
  type ReportedError,
  type ReportedOutcome,
  RUNS_PATH,
  type RunReport,
} from "../core/platform-contract.ts";
import type { ShownError } from "../core/safe-text.ts";
import { type ChannelMessages, type RunOutcome, subscribe } from "./channels.ts";

/** Maximum number of queued reports. The oldest one is dropped if the queue is full. */
const MAX_QUEUED = 1_000;

/** Maximum number of events whose last error is remembered. */
const MAX_ORIGINS = 1_000;

/** The first stack frame, where the error was created. Later frames depend on what the run was waiting for. */
const FIRST_FRAME = /^ *at .*$/m;

const MAX_MESSAGE_LENGTH = 2_000;

const MAX_STACK_LENGTH = 8_000;

/** Time limit for a request, in ms. A local platform responds within a few milliseconds. */
const REQUEST_TIMEOUT_MS = 2_000;

/** Interval between announcements, in ms. A restarted platform does not know the bot's URL until the next one. */
const ANNOUNCE_INTERVAL_MS = 10_000;

/** Maximum time that a stopping bot waits for its last reports, in ms. */
const CLOSE_TIMEOUT_MS = 500;

const MAX_ANSWER_BYTES = 1_024;

const reported: Readonly<Partial<Record<RunOutcome, ReportedOutcome>>> = {
  done: "done",
  retry: "retry",
  release: "released",
  dead: "dead",
};

export interface RunReporterOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly send: Transport;
}

/**
 * Reports a bot's runs to a local platform, which shows them to the developer. Starts with a request without runs, and
 * repeats it every 10 seconds because the platform may restart. Any other platform responds with 404, or with 200 and
 * another body, and then receives no more requests. Reports that cannot be sent are dropped.
 */
export class RunReporter {
  readonly #options: RunReporterOptions;
  readonly #queue: RunReport[] = [];
  /** Stack frames of the last errors, by event id. */
  readonly #origins = new Map<string, string>();
  readonly #closing = new AbortController();
  #url: string | undefined;
  #sending: Promise<void> | undefined;
  readonly #unsubscribe: () => void;
  #isLocal = false;
  /** True after {@link close}, or once another platform has responded. */
  #isOff = false;

  /** Returns `undefined` unless the platform is on this machine. */
  static for(bot: object, options: RunReporterOptions): RunReporter | undefined {
    const { hostname } = new URL(options.baseUrl);
    return isLoopback(hostname) ? new RunReporter(bot, options) : undefined;
  }

  private constructor(bot: object, options: RunReporterOptions) {
    this.#options = options;
    this.#unsubscribe = subscribe(bot, { run: (run) => this.#add(run) });
  }

  /** @param url URL at which the platform can reach the bot, if it has a server */
  start(url?: string): void {
    this.#url = url === undefined ? undefined : onLoopback(url);
    this.#wake();
    const announce = async () => {
      this.#isLocal = false;
      this.#wake();
    };
    const options = { background: true };
    void every(systemClock, ANNOUNCE_INTERVAL_MS, announce, this.#closing.signal, options);
  }

  #add(run: ChannelMessages["run"]): void {
    const name = reported[run.outcome];
    // A run cut short because the bot is stopping runs again after the restart.
    const isCutShort = name === "released" && run.error?.code === "NOT_READY";
    if (name === undefined || isCutShort) return;
    const { event: eventId, attempt, ms, retryInMs, conversationId, postId } = run;
    const error = run.error && this.#errorOf(eventId, run.error);
    if (name === "done" || name === "dead") this.#origins.delete(eventId);
    const place = { conversationId, postId };
    this.#queue.push({ eventId, attempt, outcome: name, ...place, ms, retryInMs, error });
    if (this.#queue.length > MAX_QUEUED) this.#queue.shift();
    this.#wake();
  }

  /** Sends the remaining reports for at most half a second. Never rejects. */
  async close(): Promise<void> {
    const cancel = systemClock.timer(CLOSE_TIMEOUT_MS, () => this.#closing.abort());
    while (this.#sending !== undefined) await this.#sending;
    cancel();
    this.end();
  }

  #errorOf(eventId: string, { type, code, message, stack }: ShownError): ReportedError {
    const origin = `${type}: ${message} ${FIRST_FRAME.exec(stack ?? "")}`;
    const isNew = stack !== undefined && this.#origins.get(eventId) !== origin;
    if (isNew) {
      this.#origins.set(eventId, origin);
      const [oldest] = this.#origins.keys();
      if (this.#origins.size > MAX_ORIGINS && oldest !== undefined) this.#origins.delete(oldest);
    }
    return {
      type: type.slice(0, MAX_MESSAGE_LENGTH),
      ...(code === undefined ? {} : { code: code.slice(0, MAX_MESSAGE_LENGTH) }),
      message: message.slice(0, MAX_MESSAGE_LENGTH),
      ...(isNew ? { stack: stack.slice(0, MAX_STACK_LENGTH) } : {}),
    };
  }

  #wake(): void {
    if (this.#isOff) return;
    this.#sending ??= this.#sendAll().then((isThere) => {
      this.#sending = undefined;
      // A run may have ended since the last check of the queue.
      if (isThere && this.#queue.length > 0) this.#wake();
    });
  }

  /** Resolves to false if the platform is down. The next report tries again. */
  async #sendAll(): Promise<boolean> {
    try {
      this.#isLocal ||= await this.#send([]);
      if (!this.#isLocal) return false;
      while (this.#queue.length > 0) await this.#send(this.#queue.splice(0, MAX_REPORTED_RUNS));
      return true;
    } catch {
      return false;
    }
  }

  /** Resolves to true if a local platform accepted the runs. Stops reporting if another platform responded. */
  async #send(runs: readonly RunReport[]): Promise<boolean> {
    const { status, body } = await this.#post(runs);
    const isAccepted = status === 200 && isAcceptance(body);
    if (status === 404 || (status === 200 && !isAccepted)) this.end();
    return isAccepted;
  }

  end(): void {
    this.#isOff = true;
    this.#closing.abort();
    this.#unsubscribe();
    this.#queue.length = 0;
    this.#origins.clear();
  }

  async #post(runs: readonly RunReport[]): Promise<{ status: number; body: string }> {
    const { baseUrl, apiKey, send } = this.#options;
    const request = {
      method: "POST",
      url: `${new URL(baseUrl).origin}${RUNS_PATH}`,
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ runs, url: this.#url }),
    } as const;
    const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const response = await send(request, AbortSignal.any([timeout, this.#closing.signal]));
    return { status: response.status, body: await readTextUpTo(response.body, MAX_ANSWER_BYTES) };
  }
}

function onLoopback(url: string): string {
  const target = new URL(url);
  if (target.hostname === "0.0.0.0") target.hostname = "127.0.0.1";
  if (target.hostname === "[::]") target.hostname = "[::1]";
  return target.origin;
}

/** A local platform responds with `{"accepted": 0}`, for example. */
function isAcceptance(body: string): boolean {
  try {
    const { accepted }: { accepted?: unknown } = Object(JSON.parse(body));
    return typeof accepted === "number";
  } catch {
    return false;
  }
}
