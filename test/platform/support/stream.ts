import { createParser, type EventSourceMessage } from "eventsource-parser";
import { onTestFinished } from "vitest";

/** What `GET /control/v1/stream` sends, as it is read by a parser that browsers' own is modelled on. */
export class StreamReader {
  readonly messages: EventSourceMessage[] = [];
  readonly comments: string[] = [];
  readonly headers: Headers;
  /** Resolves when the stream ends, however. */
  readonly ended: Promise<void>;
  #news = Promise.withResolvers<void>();

  constructor(response: Response) {
    this.headers = response.headers;
    this.ended = this.#read(response).finally(() => this.#news.resolve());
  }

  /** Resolves once so many messages have come, the first of which says hello. */
  async has(count: number): Promise<readonly EventSourceMessage[]> {
    return await this.#until(() => this.messages.length >= count, `message ${count}`);
  }

  async hasComment(): Promise<void> {
    await this.#until(() => this.comments.length > 0, "a comment");
  }

  /** The numbers of the entries so far. */
  get seqs(): number[] {
    return this.messages.slice(1).map(({ data }) => JSON.parse(data).seq);
  }

  async #until(here: () => boolean, what: string): Promise<readonly EventSourceMessage[]> {
    let over = false;
    void this.ended.then(() => {
      over = true;
    });
    while (!here()) {
      if (over) throw new Error(`the stream ended before ${what}`);
      await this.#news.promise;
    }
    return this.messages;
  }

  async #read(response: Response): Promise<void> {
    const parser = createParser({
      onEvent: (message) => this.messages.push(message),
      onComment: (comment) => this.comments.push(comment),
    });
    const decoder = new TextDecoder();
    try {
      for await (const bytes of response.body ?? []) {
        parser.feed(decoder.decode(bytes, { stream: true }));
        this.#news.resolve();
        this.#news = Promise.withResolvers();
      }
    } catch {
      // It was cut.
    }
  }
}

/** Opens the stream of a platform; it is closed with the test. */
export async function readStream(
  url: string,
  query = "",
  headers: Readonly<Record<string, string>> = {},
): Promise<StreamReader> {
  const closing = new AbortController();
  onTestFinished(() => closing.abort());
  const { signal } = closing;
  const response = await fetch(`${url}/control/v1/stream${query}`, { headers, signal });
  if (!response.ok) throw new Error(`the stream was answered with ${response.status}`);
  return new StreamReader(response);
}
