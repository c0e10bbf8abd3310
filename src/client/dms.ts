import type { Http } from "./http.ts";
import type { Listing } from "./listing.ts";
import { list, write } from "./operations.ts";
import { conversationsPath, messagesPath } from "./request.ts";
import { conversation, documentedPageOf, message, sentMessage } from "./schemas.ts";
import type {
  CallOptions,
  Conversation,
  Message,
  OutgoingMessage,
  PageOptions,
  SentMessage,
} from "./types.ts";

/** Direct messages: reply-only, in conversations that a user began. Scope: `dm`. */
export class Dms {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** The bot's conversations that have received messages, newest first. */
  conversations(options: PageOptions = {}): Listing<Conversation> {
    return list(this.#http, () => conversationsPath, documentedPageOf(conversation), options);
  }

  /**
   * The messages of a conversation, newest first.
   *
   * @throws {NotFoundError} NOT_FOUND when the bot takes no part in it
   */
  messages(conversationId: string, options: PageOptions = {}): Listing<Message> {
    return list(this.#http, () => messagesPath(conversationId), documentedPageOf(message), options);
  }

  /**
   * Sends a message: text, images or both. Tried again only if it is certain that it was not sent.
   *
   * @throws {ContentError} EMPTY, TOO_LONG, GROUP_UNSUPPORTED
   * @throws {ImageError} TOO_MANY_IMAGES, INVALID_IMAGE_KEY, and problems of an image
   * @throws {AccessError} BLOCKED, AGENT_SCOPE_MISSING
   * @throws {NotFoundError} NOT_FOUND
   * @throws {LimitError} QUOTA_EXCEEDED
   */
  async send(
    conversationId: string,
    outgoing: OutgoingMessage,
    options: CallOptions = {},
  ): Promise<SentMessage> {
    const path = messagesPath(conversationId);
    const sent = await write(this.#http, path, sentMessage, outgoing, options);
    return sent.conversationId === "" ? { ...sent, conversationId } : sent;
  }
}
