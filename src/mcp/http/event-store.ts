import type { EventStore, JSONRPCMessage } from "../sdk.ts";

interface Stored {
  readonly id: string;
  readonly stream: string;
  readonly message: JSONRPCMessage;
  /** Characters of JSON. */
  readonly size: number;
}

/** What a session keeps for a client that was cut off: at most so many messages, */
const MAX_MESSAGES = 500;

/** and so many characters of JSON, the last one always. */
const MAX_CHARACTERS = 1024 * 1024;

/**
 * The last messages of one session, so that a stream that broke off goes on where it was (`Last-Event-ID`). What is
 * older is forgotten: asked to go on behind that, it knows nothing, and never leaves something out.
 */
export class RecentMessages implements EventStore {
  readonly #messages: Stored[] = [];
  #characters = 0;
  #count = 0;

  storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    this.#count += 1;
    const id = `${this.#count}`;
    const size = JSON.stringify(message).length;
    this.#messages.push({ id, stream, message, size });
    this.#characters += size;
    while (this.#isFull()) this.#characters -= this.#messages.shift()?.size ?? 0;
    return Promise.resolve(id);
  }

  getStreamIdForEventId(id: string): Promise<string | undefined> {
    return Promise.resolve(this.#messages.find((message) => message.id === id)?.stream);
  }

  async replayEventsAfter(
    lastId: string,
    { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const from = this.#messages.findIndex(({ id }) => id === lastId);
    const last = this.#messages[from];
    if (last === undefined) throw new Error("What came after this is not known any more.");
    for (const { id, stream, message } of this.#messages.slice(from + 1)) {
      // What opens a stream is no message.
      if (stream === last.stream && "jsonrpc" in message) await send(id, message);
    }
    return last.stream;
  }

  #isFull(): boolean {
    const { length } = this.#messages;
    return length > MAX_MESSAGES || (length > 1 && this.#characters > MAX_CHARACTERS);
  }
}
