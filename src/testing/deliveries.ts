import { quoteValue } from "../core/kinds.ts";
import { copyFields } from "../core/option-checks.ts";
import { ServiceBotError } from "../errors.ts";
import { actorOf, conversationOf, foldUsername } from "../events/lane.ts";
import type { AnyEvent, UnknownEvent } from "../events/types.ts";
import {
  type DeliverOptions,
  type DeliveryAnswer,
  SECRET,
  signedDelivery,
  type TestEvent,
} from "./delivery.ts";
import type { ManualClock } from "./manual-clock.ts";
import type { StoredEffects } from "./stored.ts";

/** The part of a bot that receives deliveries. */
interface ReceivingBot {
  handle(request: Request): Promise<Response>;
  idle(): Promise<void>;
  readonly inbox: Pick<StoredEffects, "show">;
}

/** Deliveries to a bot under test. Resolves each of them once the bot has responded and handled the events. */
export class Deliveries {
  readonly #bot: ReceivingBot;
  readonly #clock: ManualClock;
  /** Event of each user's newest message, which identifies the conversation's lane. */
  readonly #messages = new Map<string, string>();
  #ids = 0;

  constructor(bot: ReceivingBot, clock: ManualClock) {
    this.#bot = bot;
    this.#clock = clock;
  }

  /** Returns an event id that is larger than all earlier ones. */
  nextId(): string {
    this.#ids += 1;
    return `evt_test_${String(this.#ids).padStart(6, "0")}`;
  }

  /**
   * Adds an id and a date to an event that has none. Changes nothing else, because a test may forge events.
   *
   * @throws {ServiceBotError} INVALID_OPTION if the event is not an object, or is not JSON
   */
  complete<T extends string>(forged: TestEvent<T>): UnknownEvent {
    const given = copyFields("event", forged);
    const createdAt = new Date(this.#clock.now()).toISOString();
    const event = given as Partial<UnknownEvent> & Pick<UnknownEvent, "type" | "payload">;
    return { id: this.nextId(), createdAt, ...event };
  }

  /** @throws {ServiceBotError} NOT_READY if the bot has rejected the delivery */
  async handle(events: readonly AnyEvent[]): Promise<void> {
    const { status, body } = await this.send(events);
    if (status !== 200) throw rejected(status, body);
  }

  async send(
    events: readonly AnyEvent[],
    { secret = SECRET, timestamp = this.#clock.now() / 1000 }: DeliverOptions = {},
  ): Promise<DeliveryAnswer> {
    for (const event of events) {
      const from = conversationOf(event) && actorOf(event);
      if (from !== undefined) this.#messages.set(foldUsername(from), event.id);
    }
    const response = await this.#bot.handle(signedDelivery(events, { secret, timestamp }));
    await this.#bot.idle();
    return { status: response.status, body: await response.json() };
  }

  /**
   * Returns the lane of a user's conversation.
   *
   * @throws {ServiceBotError} INVALID_OPTION if the user has sent no message
   */
  async laneOf(username: string): Promise<string> {
    const event = this.#messages.get(foldUsername(username.replace(/^@/, "")));
    if (event !== undefined) return (await this.#bot.inbox.show(event)).lane;
    throw new ServiceBotError(
      "INVALID_OPTION",
      `${quoteValue(username)} has sent no message, so there is no conversation.`,
    );
  }
}

function rejected(status: number, body: unknown): ServiceBotError {
  const { error }: { error?: { code?: string; message?: string } } = { ...Object(body) };
  const { code = "no code", message = "" } = { ...error };
  return new ServiceBotError(
    "NOT_READY",
    `The bot responded to the delivery with ${status} ${code}: ${message}`,
  );
}
