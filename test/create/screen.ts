import { stripVTControlCharacters } from "node:util";

/** What was printed at a terminal, to wait for. */
export class Screen {
  #transcript = "";
  /** Up to where {@link shows} has read. */
  #seen = 0;
  #ended = false;
  #wake: () => void = () => {};

  /** All of it so far, without colours and movements. */
  get text(): string {
    return stripVTControlCharacters(this.#transcript).replaceAll("\r\n", "\n");
  }

  print(chunk: string): void {
    this.#transcript += chunk;
    this.#wake();
  }

  /** Nothing will be printed any more. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Waits until all of these are printed, in any order, after what was waited for before. */
  async shows(...texts: readonly string[]): Promise<void> {
    const missing = () => texts.find((text) => this.text.indexOf(text, this.#seen) < 0);
    while (missing() !== undefined) {
      if (this.#ended) throw new Error(`ended before "${missing()}":\n${this.text}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const ends = texts.map((text) => this.text.indexOf(text, this.#seen) + text.length);
    this.#seen = Math.max(...ends);
  }
}
