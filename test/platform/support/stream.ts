import { onTestFinished } from "vitest";

export interface StreamMessage {
  readonly event: string | undefined;
  readonly id: string | undefined;
  readonly data: string;
}

export class StreamReader {
  readonly messages: StreamMessage[] = [];
  readonly comments: string[] = [];
  readonly headers: Headers;
  /** Resolves when the stream ends for any reason. */
  readonly ended: Promise<void>;
  #news = Promise.withResolvers<void>();

  constructor(response: Response) {
    this.headers = response.headers;
    this.ended = this.#read(response).finally(() => this.#news.resolve());
  }

  /** Resolves once this many messages have arrived, including the initial hello message. */
  async has(count: number): Promise<readonly StreamMessage[]> {
    return await this.#until(() => this.messages.length >= count, `message ${count}`);
  }

  async hasComment(): Promise<void> {
    await this.#until(() => this.comments.length > 0, "a comment");
  }

  get seqs(): number[] {
    return this.messages.slice(1).map(({ data }) => JSON.parse(data).seq);
  }

  async #until(here: () => boolean, what: string): Promise<readonly StreamMessage[]> {
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
    const decoder = new TextDecoder();
    let text = "";
    try {
      for await (const bytes of response.body ?? []) {
        text += decoder.decode(bytes, { stream: true });
        // A blank line ends a block. The text after the last blank line is incomplete.
        const blocks = text.split("\n\n");
        text = blocks.pop() ?? "";
        for (const block of blocks) this.#take(block);
        this.#news.resolve();
        this.#news = Promise.withResolvers();
      }
    } catch {
      // The platform closed the connection.
    }
  }

  /** Parses a block of `field: value` lines. A line without a field is a comment. */
  #take(block: string): void {
    const lines = block.split("\n").map((line) => /^(\w*): ?(.*)$/s.exec(line) ?? []);
    const values = (field: string) =>
      lines.flatMap(([, name, value = ""]) => (name === field ? [value] : []));
    this.comments.push(...values(""));
    const data = values("data");
    if (data.length === 0) return;
    const [event, id] = [values("event").at(-1), values("id").at(-1)];
    this.messages.push({ event, id, data: data.join("\n") });
  }
}

export async function readStream(
  url: string,
  query = "",
  headers: Readonly<Record<string, string>> = {},
): Promise<StreamReader> {
  const closing = new AbortController();
  onTestFinished(() => closing.abort());
  const { signal } = closing;
  const response = await fetch(`${url}/control/v1/stream${query}`, { headers, signal });
  if (!response.ok) throw new Error(`the stream got ${response.status}`);
  return new StreamReader(response);
}
