/**
 * Channels of `node:diagnostics_channel` on which the parts of a bot say what happens. The log, the metrics, the spans and
 * the report to a local platform subscribe to them, and so may an application. A channel without subscribers costs nothing.
 */
import { channel, type TracingChannel, tracingChannel } from "node:diagnostics_channel";
import type { ShownError } from "../core/safe-text.ts";

/** In each message: the `Bot` that it is about, or a `Client` of its own. `undefined` for a part that belongs to neither. */
export interface BotMessage {
  readonly bot: object | undefined;
}

export const runOutcomes = ["done", "retry", "release", "dead", "lost", "skipped"] as const;
/** Outcomes of a run. `lost`: another instance has the event. `skipped`: returned to its lane before the handlers started. */
export type RunOutcome = (typeof runOutcomes)[number];

export const leaseLosses = ["run", "result", "log"] as const;
/** Notices of a lost lease: during a `run`, by its `result`, or by the reader of the event `log`. */
export type LeaseLoss = (typeof leaseLosses)[number];

export const storeFailures = ["disk_low", "disk_full", "locked", "away", "broken"] as const;
/** Failures of the store. `disk_low`: new events are refused because little space is free. */
export type StoreFailure = (typeof storeFailures)[number];

export const stepOutcomes = ["made", "recorded", "found", "elsewhere"] as const;
/**
 * Ends of a step. `made`: by this run. `recorded`: an earlier run recorded its result. `found`: an earlier run made the effect
 * without recording it. `elsewhere`: another event of the same subject has the answer.
 */
export type StepOutcome = (typeof stepOutcomes)[number];

/** A batch of events, as the inbox has stored it. */
export interface BatchMessage extends BotMessage {
  /** How the events reached the bot. */
  readonly source: "webhook" | "poll";
  /** The whole batch. */
  readonly events: readonly { readonly id: string; readonly type: string }[];
  /** Ids of the new events. */
  readonly stored: readonly string[];
  readonly duplicates: number;
  /** New events that cannot be handled, and are dead letters. */
  readonly unusable: number;
  /** Id of the trace that is stored with the events. */
  readonly trace: string | undefined;
}

/** In messages about requests: the event whose handler made the request. */
interface RequestMessage extends BotMessage {
  readonly event?: string | undefined;
  readonly trace?: string | undefined;
}

/** Event of which a message is. */
export interface EventMessage extends BotMessage {
  /** Id of the event. */
  readonly event: string;
  readonly type: string;
  readonly lane: string;
  /** Number of the run, from 1 up. */
  readonly attempt: number;
  /** Id of its trace; `undefined` if it was stored without one. */
  readonly trace: string | undefined;
}

/** Message of each channel, by the name of the channel behind `service-bot:`. Times are milliseconds. */
export interface ChannelMessages {
  /** Events were stored, from the webhook or from the event log. */
  readonly batch: BatchMessage;
  /** A delivery of the webhook was answered. */
  readonly delivery: BotMessage & {
    /** HTTP status of the answer. */
    readonly status: number;
    /** Code of the error in the answer. */
    readonly code?: string | undefined;
    /** Message of that error. */
    readonly reason?: string | undefined;
    /** From the whole body until the answer; absent if the signature was not good. */
    readonly ms?: number | undefined;
    /** Absent unless the batch was stored. */
    readonly batch?: BatchMessage | undefined;
    /** Why the batch could not be stored. */
    readonly error?: unknown;
    readonly trace?: string | undefined;
  };
  /** The event log was read to its end, or could not be: then with the code of the error. */
  readonly poll: BotMessage & {
    readonly code: string | undefined;
    /** Absent if the log could not be read; false if the reader gave up on pages without events. */
    readonly atEnd?: boolean;
    /** Why the log could not be read. */
    readonly error?: unknown;
    /** Time until the next try. */
    readonly retryInMs?: number;
    /** How the bot goes on without the log, for people; set if the token may not read it. */
    readonly meanwhile?: string | undefined;
  };
  /** Polling took over from the webhook (`polling`), or handed back (`auditing`). */
  readonly mode: BotMessage & { readonly mode: "auditing" | "polling"; readonly reason: string };
  /** The lease of a run, or of the event log with its `term`, was lost to another instance. */
  readonly "lease-lost": BotMessage & {
    readonly what: LeaseLoss;
    readonly term?: number | undefined;
  };
  /** A run of the handlers of one event ended, and its outcome is stored. */
  readonly run: EventMessage & {
    readonly outcome: RunOutcome;
    readonly ms: number;
    /** Time until the next run; absent if there is none. */
    readonly retryInMs?: number | undefined;
    /** Why the run failed, without secrets and texts of people. */
    readonly error?: ShownError | undefined;
    /** The conversation that the event names. */
    readonly conversationId?: string;
    /** The post that the event names. */
    readonly postId?: string;
    /** True if the loop guard held the event back. */
    readonly isLoopHeld?: boolean;
  };
  /** A step of a handler has its result. */
  readonly step: EventMessage & {
    readonly step: string;
    readonly outcome: StepOutcome;
    /** Id on the platform of the written message, comment or post. */
    readonly ref: string | undefined;
  };
  /** One request to the platform ended. */
  readonly request: RequestMessage & {
    readonly method: string;
    /** Below `/api/v1`, without the query. */
    readonly path: string;
    /** Method and template of the path, such as `POST /posts/{id}/comments`. */
    readonly operation: string;
    /** HTTP status; `undefined` without an answer. */
    readonly status: number | undefined;
    /** Code of the error; absent if the request succeeded, or its caller gave up. */
    readonly code?: string | undefined;
    readonly ms: number;
  };
  /** A request was not sent, because the platform is away or the budget is spent. */
  readonly "held-back": BotMessage & { readonly code: string };
  /** Requests of one kind begin to wait for the budget; at most one message a minute. */
  readonly "budget-wait": RequestMessage & { readonly kind: string; readonly perMinute: number };
  /** Requests are held back from now on, or go out again. */
  readonly circuit: RequestMessage & {
    /** `platform`, `token`, or an operation such as `POST /posts`. */
    readonly of: string;
    readonly why: "outages" | "quota" | "token";
    /** True if requests are held back. */
    readonly open: boolean;
    /** Time until the platform is tried again. */
    readonly retryInMs: number;
    /** Answer that refused the token. */
    readonly error?: (Error & { readonly status: number }) | undefined;
  };
  /** A transaction of the store ended, committed or not. */
  readonly transaction: BotMessage & { readonly ms: number };
  /** The store failed. */
  readonly "store-failure": BotMessage & { readonly reason: StoreFailure };
}

/** Work with other work inside it. Whoever does the work completes its message. */
interface WorkMessage extends BotMessage {
  /** Trace that the work belongs to; a subscriber to `start` may set another one. */
  trace?: string | undefined;
  /** Why the work failed. */
  error?: unknown;
  /** Set by a subscriber to `start` that runs the work in a context of its own. */
  around?: <T>(work: () => T) => T;
}

/** Message of each tracing channel, by its name behind `service-bot:`. */
export interface WorkMessages {
  /** A delivery, from its signature to its answer. */
  readonly delivery: WorkMessage & { status?: number; batch?: BatchMessage };
  /** Storing pages of the event log in one transaction. */
  readonly page: WorkMessage & { batch?: BatchMessage };
  /** One run of the handlers of an event. `trace` is the stored one, with its span. */
  readonly run: WorkMessage &
    Omit<EventMessage, "trace"> & {
      readonly source: "webhook" | "poll";
      readonly late: boolean;
      outcome?: RunOutcome;
    };
  /** A step of a handler. */
  readonly step: WorkMessage & { readonly step: string; outcome?: StepOutcome };
  /** One try of a request to the platform. */
  readonly request: WorkMessage & {
    readonly method: string;
    /** Template of the path, such as `/posts/{id}`. */
    readonly template: string;
    readonly baseUrl: string;
    /** `read` and `write` of handlers; `audit` and `poll` read the event log. */
    readonly kind: string;
    /** Number of the try, from 1 up. */
    readonly number: number;
    status?: number;
  };
}

/** A channel, as the parts of a bot use it: they publish only if there are subscribers. */
export interface FactChannel<M> {
  readonly hasSubscribers: boolean;
  publish(message: M): void;
}

const PREFIX = "service-bot:";

export const channels: { readonly [K in keyof ChannelMessages]: FactChannel<ChannelMessages[K]> } =
  {
    batch: channel(`${PREFIX}batch`),
    delivery: channel(`${PREFIX}delivery`),
    poll: channel(`${PREFIX}poll`),
    mode: channel(`${PREFIX}mode`),
    "lease-lost": channel(`${PREFIX}lease-lost`),
    run: channel(`${PREFIX}run`),
    step: channel(`${PREFIX}step`),
    request: channel(`${PREFIX}request`),
    "held-back": channel(`${PREFIX}held-back`),
    "budget-wait": channel(`${PREFIX}budget-wait`),
    circuit: channel(`${PREFIX}circuit`),
    transaction: channel(`${PREFIX}transaction`),
    "store-failure": channel(`${PREFIX}store-failure`),
  };

export const works: {
  readonly [K in keyof WorkMessages]: TracingChannel<unknown, WorkMessages[K]>;
} = {
  delivery: tracingChannel(`${PREFIX}delivery`),
  page: tracingChannel(`${PREFIX}page`),
  run: tracingChannel(`${PREFIX}run`),
  step: tracingChannel(`${PREFIX}step`),
  request: tracingChannel(`${PREFIX}request`),
};

/**
 * Does work, and publishes its start, its error and its end (`asyncEnd`) on a tracing channel. Results are not published,
 * because they hold texts of people.
 *
 * @param message made only if there are subscribers
 * @param work gets the message, to complete it
 */
export function traced<M extends WorkMessage, T>(
  channel: TracingChannel<unknown, M>,
  message: () => NoInfer<M>,
  work: (message: NoInfer<M> | undefined) => Promise<T>,
): Promise<T> {
  return channel.hasSubscribers ? trace(channel, message(), work) : work(undefined);
}

async function trace<M extends WorkMessage, T>(
  { start, error, asyncEnd }: TracingChannel<unknown, M>,
  message: M,
  work: (message: M) => Promise<T>,
): Promise<T> {
  const run = () => work(message);
  try {
    return await start.runStores(message, () => (message.around ?? call)(run));
  } catch (thrown) {
    message.error = thrown;
    error.publish(message);
    throw thrown;
  } finally {
    asyncEnd.publish(message);
  }
}

function call<T>(work: () => T): T {
  return work();
}

/** Functions to call with the messages of channels. */
export type Listeners = {
  readonly [K in keyof ChannelMessages]?: (message: ChannelMessages[K]) => unknown;
};

/**
 * Subscribes to the messages of one bot. What a listener throws is dropped, because the publisher may be in the middle of
 * an answer.
 *
 * @returns ends the subscription
 */
export function subscribe(bot: object, listeners: Listeners): () => void {
  const all: [string, (message: never) => void][] = Object.entries(listeners);
  const ends = all.map(([name, listener]) => {
    const receive = (message: unknown) => {
      if ((message as BotMessage).bot !== bot) return;
      try {
        listener(message as never);
      } catch {
        // A broken logger is no reason to end the process, as Node would.
      }
    };
    const subscribed = channel(PREFIX + name);
    subscribed.subscribe(receive);
    return () => void subscribed.unsubscribe(receive);
  });
  return () => {
    for (const end of ends) end();
  };
}
