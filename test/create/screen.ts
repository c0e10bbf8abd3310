import { stripVTControlCharacters } from "node:util";

export class Screen {
  #transcript = "";
  /** Offset that {@link shows} has read up to. */
  #seen = 0;
  #ended = false;
  #wake: () => void = () => {};

  /** All output so far, without colours and cursor movements. */
  get text(): string {
    return stripVTControlCharacters(this.#transcript).replaceAll("\r\n", "\n");
  }

  print(chunk: string): void {
    this.#transcript += chunk;
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Waits until all texts have been printed, in any order, since the previous call. */
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
