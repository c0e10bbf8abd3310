import * as z from "zod";
import { TOLERANCE_SECONDS } from "../../signature/signature.ts";
import { invalid, notFound, PlatformError } from "../error.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import type { LoggedEvent } from "../store/event-log.ts";
import type { Store } from "../store/store.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { MAX_BATCH } from "./deliverer.ts";
import type { DeliveryRecords } from "./records.ts";
import {
  type Content,
  contentOf,
  type DeliveryResult,
  type Endpoint,
  type Sender,
  type SentRequest,
} from "./sender.ts";
import type { Webhook } from "./webhook.ts";
import type { Webhooks } from "./webhooks.ts";

/** Content to deliver. Exactly one field is set. */
export interface DeliveryContent {
  /** 1 to 50 event ids, sent as one batch in this order. An id may occur more than once. */
  readonly eventIds?: readonly string[] | undefined;
  /** A custom body of up to 1 MB in UTF-8, sent unchanged and signed as usual. */
  readonly body?: string | undefined;
}

/** A forced delivery, outside the schedule. */
export interface DeliverInput extends DeliveryContent {
  /** Number of consecutive deliveries, 1 to 100. Default 1. */
  readonly times?: number | undefined;
}

const content = {
  eventIds: z.array(z.string()).optional(),
  body: z.string().optional(),
};

export const deliveryContent: z.ZodType<DeliveryContent> = z.strictObject(content);

export const deliverInput: z.ZodType<DeliverInput> = z.strictObject({
  ...content,
  times: z.number().optional(),
});

/** Result of one delivery. */
export interface DeliverResult extends DeliveryResult {
  /** Id of the delivery's record. */
  readonly id: string;
}

/** A delivery as a shell command. */
export interface DeliveryCommand {
  /** curl command on one line, for a POSIX shell. */
  readonly command: string;
  /** Time at which the signature expires. ISO 8601, UTC. */
  readonly expiresAt: string;
}

export interface ForcedOptions {
  readonly store: Store;
  readonly webhooks: Webhooks;
  readonly sender: Sender;
  readonly records: DeliveryRecords;
  readonly shown: ShownEvents;
  readonly timeline: Timeline;
}

const MAX_TIMES = 100;

/** Sends deliveries outside the schedule, such as duplicates and events out of order. */
export class ForcedDeliveries {
  readonly #options: ForcedOptions;

  constructor(options: ForcedOptions) {
    this.#options = options;
  }

  async deliver(
    bot: number,
    { times = 1, ...input }: DeliverInput,
  ): Promise<readonly DeliverResult[]> {
    if (!Number.isInteger(times) || times < 1 || times > MAX_TIMES) {
      throw invalid(`times must be a whole number from 1 to ${MAX_TIMES}`);
    }
    const webhook = this.#options.webhooks.of(bot);
    const { username } = webhook;
    const { store, sender, records, shown, timeline } = this.#options;
    const content = this.#content(bot, input);
    // A custom body may name any event, so mark only events from the bot's own log as seen.
    const known = content.eventIds.flatMap((id) => this.#find(bot, id) ?? []);
    const results: DeliverResult[] = [];
    for (let attempt = 1; attempt <= times; attempt += 1) {
      if (timeline.ended.aborted || !store.isOpen) break;
      shown.note(bot, known);
      const sent = await sender.sendContent(this.#endpoint(webhook), content);
      const id = records.add({ bot: username, attempt, forced: true }, sent);
      const { status, ms, error } = sent;
      results.push({ id, status, ms, ...(error === undefined ? {} : { error }) });
    }
    return results;
  }

  /** Returns the delivery as a shell command. Adds no record, because the platform does not send it. */
  command(bot: number, input: DeliveryContent): DeliveryCommand {
    const { webhooks, sender } = this.#options;
    const content = this.#content(bot, input);
    const { at, request } = sender.prepare(this.#endpoint(webhooks.of(bot)), content);
    const expires = (Math.floor(at / 1000) + TOLERANCE_SECONDS) * 1000;
    return { command: curlLine(request), expiresAt: new Date(expires).toISOString() };
  }

  #content(bot: number, { eventIds, body }: DeliveryContent): Content {
    if ((eventIds === undefined) === (body === undefined)) {
      throw invalid("pass exactly one of eventIds and body");
    }
    if (body !== undefined) return editedContent(body);
    if (eventIds === undefined || eventIds.length < 1 || eventIds.length > MAX_BATCH) {
      throw invalid(`eventIds must contain 1 to ${MAX_BATCH} ids`);
    }
    return contentOf(eventIds.map((id) => this.#event(bot, id)));
  }

  #event(bot: number, id: string): LoggedEvent {
    const event = this.#find(bot, id);
    if (event === undefined) throw notFound(`event: ${id}`);
    return event;
  }

  #find(bot: number, id: string): LoggedEvent | undefined {
    const logged = this.#options.store.events.findById(id);
    return logged?.recipient === bot ? logged : undefined;
  }

  /** Throws while the webhook is disabled, because a disabled webhook sends nothing, not even a forced delivery. */
  #endpoint({ bot, endpoint }: Webhook): Endpoint {
    if (endpoint !== undefined) return endpoint;
    if (this.#options.store.apps.disabled(bot)) {
      const message = "The app is disabled. Enable it to send events.";
      throw new PlatformError(409, "APP_DISABLED", message);
    }
    throw new PlatformError(409, "WEBHOOK_OFF", "The webhook is off. Save it to turn it on.");
  }
}

const MAX_BYTES = 1024 * 1024;

const EVENT_ID = /^evt_[\w-]{1,64}$/;

/**
 * Wraps a custom body, which is sent unchanged. Invalid JSON is allowed, so that users can test how a bot handles it.
 *
 * @throws {PlatformError} 400 VALIDATION for a lone surrogate; 413 TOO_LARGE
 */
function editedContent(text: string): Content {
  if (!text.isWellFormed()) throw invalid("body must be valid UTF-8 text");
  const body = Buffer.from(text);
  if (body.byteLength > MAX_BYTES) {
    throw new PlatformError(
      413,
      "TOO_LARGE",
      `The delivery body is larger than ${MAX_BYTES} bytes.`,
    );
  }
  const events = eventsIn(text);
  const eventIds = events
    .map((event) => Object(event).id as unknown)
    .filter((id): id is string => typeof id === "string" && EVENT_ID.test(id))
    .slice(0, MAX_BATCH);
  return { body, eventIds, events: events.length };
}

function eventsIn(text: string): readonly unknown[] {
  try {
    const { events }: { events?: unknown } = Object(JSON.parse(text));
    return Array.isArray(events) ? events : [];
  } catch {
    return [];
  }
}

/** In bytes. Linux limits a single command-line argument to 128 KiB. */
const MAX_WORD = 100_000;

const OF_CURL: ReadonlySet<string> = new Set(["host", "content-length"]);

/** Returns a request as a curl command on one line. curl must send exactly the bytes that were signed. */
function curlLine({ url, headers, body }: SentRequest): string {
  const given = Object.entries(headers).filter(([name]) => !OF_CURL.has(name));
  const words = given.map(([name, value]) => `-H ${word(`${name}: ${value}`)}`);
  const text = body.toString("utf8");
  // `--data-raw` because `--data` treats a leading @ as a file name. `-g` because curl otherwise expands brackets in a
  // URL.
  const curl = ["curl -i -g", word(url), ...words].join(" ");
  const plain = body.byteLength <= MAX_WORD && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text);
  if (plain) return `${curl} --data-raw ${word(text)}`;
  return `printf '%b' ${word(escaped(text))} | ${curl} --data-binary @-`;
}

function word(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Escapes each character that a terminal would interpret when the user pastes the line. */
function escaped(text: string): string {
  return text.replace(/[\\\p{Cc}\p{Zl}\p{Zp}]/gu, escapeOf);
}

/** Caches escapes, because a body of a megabyte may consist entirely of these 68 characters. */
const escapes = new Map<string, string>();

function escapeOf(character: string): string {
  const known = escapes.get(character);
  if (known !== undefined) return known;
  const bytes = [...Buffer.from(character)];
  const made = bytes.map((byte) => `\\0${byte.toString(8).padStart(3, "0")}`).join("");
  escapes.set(character, made);
  return made;
}
